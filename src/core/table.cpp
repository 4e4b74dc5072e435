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

}  // namespace

Table Table::of(std::vector<std::string> titles) {
    Table table;
    for (std::string& title : titles)
        table.columns.push_back({std::move(title), !table.columns.empty()});
    return table;
}

void Table::add(std::vector<std::string> cells, bool highlight) {
    ensure(cells.size() == columns.size(), "a table row needs one cell a column");
    rows.push_back({std::move(cells), highlight});
}

std::string table_text(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
        widths.push_back(width_of(table.columns[c].title));
        for (const Table::Row& row : table.rows) {
            ensure(row.cells.size() == table.columns.size(), "a table row needs one cell a column");
            widths[c] = std::max(widths[c], width_of(row.cells[c]));
        }
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
    add_line(false, [&](std::size_t c) { return table.columns[c].title; });
    add_line(false, [&](std::size_t c) { return std::string(widths[c], '-'); });
    for (const Table::Row& row : table.rows)
        add_line(row.highlight, [&](std::size_t c) { return row.cells[c]; });
    return text;
}

}  // namespace pibinn
