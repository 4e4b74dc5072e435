#include "report/markdown.hpp"

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

std::string csv_word(const std::string& word) {
    std::string quoted = "\"";
    for (const char c : word) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

}  // namespace pibinn
