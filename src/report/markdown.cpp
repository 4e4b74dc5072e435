#include "report/markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace pibinn {

namespace {

std::string markdown_cell(std::string words) {
    for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos; at += 2)
        words.replace(at, 1, "\\|");
    return words;
}

}  // namespace

std::string table_markdown(const Table& table) {
    std::string text = "|", rule = "|";
    for (const Table::Column& column : table.columns) {
        text += fmt::format(" {} |", markdown_cell(column.title));
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const Table::Row& row : table.rows) {
        text += "|";
        for (const std::string& words : row.cells)
            text += fmt::format(" {} |", markdown_cell(words));
        text += "\n";
    }
    return text;
}

std::string wrapped(std::string_view text, std::string_view first) {
    constexpr std::size_t width = 100;
    std::string result, line(first);
    std::size_t at = 0;
    bool empty = true;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        if (!empty && line.size() + 1 + (end - at) > width) {
            result += line + "\n";
            line.assign(first.size(), ' ');
            empty = true;
        }
        if (!empty) line += ' ';
        line += text.substr(at, end - at);
        empty = false;
        at = end + 1;
    }
    return result + line + "\n";
}

std::string csv_word(const std::string& word) {
    std::string quoted = "\"";
    for (const char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace pibinn
