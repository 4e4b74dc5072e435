#include "core/table.hpp"

#include <algorithm>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Characters, not bytes, of UTF-8: continuation bytes are 10xxxxxx.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
    const std::string gap(width - width_of(text), ' ');
    return right ? gap + text : text + gap;
}

/// The words of a text on as many lines as they need; a word longer than `width` has its own.
std::vector<std::string> broken(const std::string& text, std::size_t width) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (!lines.empty() && width_of(lines.back()) + 1 + width_of(word) <= width)
            lines.back() += ' ' + word;
        else
            lines.push_back(word);
        at = end + 1;
    }
    return lines;
}

}  // namespace

Table Table::of(std::vector<std::string> titles) {
    Table table;
    for (std::string& title : titles)
        table.columns.push_back({std::move(title), !table.columns.empty()});
    return table;
}

void Table::add(std::vector<std::string> cells, bool highlight) {
    ensure(cells.size() == columns.size(), "a table row needs one cell per column");
    rows.push_back({std::move(cells), highlight});
}

std::string table_text(const Table& table, std::size_t title_width) {
    std::vector<std::size_t> widths(table.columns.size(), 0);
    std::vector<std::vector<std::string>> titles;
    std::size_t title_lines = 1;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        for (const Table::Row& row : table.rows) {
            ensure(row.cells.size() == table.columns.size(),
                   "a table row needs one cell per column");
            widths[c] = std::max(widths[c], width_of(row.cells[c]));
        }
        titles.push_back(broken(table.columns[c].title, title_width == 0
                                                            ? std::string::npos
                                                            : std::max(title_width, widths[c])));
        for (const std::string& line : titles[c]) widths[c] = std::max(widths[c], width_of(line));
        title_lines = std::max(title_lines, titles[c].size());
    }
    const bool marked = std::any_of(table.rows.begin(), table.rows.end(),
                                    [](const Table::Row& row) { return row.highlight; });
    std::string text;
    const auto add_line = [&](bool highlight, const auto& cell_of) {
        std::string line = marked ? (highlight ? "* " : "  ") : "";
        for (std::size_t c = 0; c < widths.size(); ++c) {
            if (c > 0) line += "  ";
            line += padded(cell_of(c), widths[c], table.columns[c].number);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + '\n';
    };
    for (std::size_t i = 0; i < title_lines; ++i)
        add_line(false, [&](std::size_t c) {
            // Short titles stand on the last line, next to their cells.
            const std::size_t first = title_lines - titles[c].size();
            return i < first ? std::string() : titles[c][i - first];
        });
    add_line(false, [&](std::size_t c) { return std::string(widths[c], '-'); });
    for (const Table::Row& row : table.rows)
        add_line(row.highlight, [&](std::size_t c) { return row.cells[c]; });
    return text;
}

}  // namespace pibinn
