#include "cli/table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn::cli {

Table::Table(std::vector<std::string> header) : rows_{std::move(header)} {}

void Table::add(std::vector<std::string> row) {
    ensure(row.size() == rows_[0].size(), "a row has a cell for every column");
    rows_.push_back(std::move(row));
}

std::string Table::text() const {
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        std::string line = fmt::format("{:<{}}", rows_[r][0], widths[0]);
        for (std::size_t c = 1; c < rows_[r].size(); ++c)
            line += fmt::format("  {:>{}}", rows_[r][c], widths[c]);
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        if (r == 0) text += std::string(line.size(), '-') + "\n";
    }
    return text;
}

std::string grouped(std::size_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

}  // namespace pibinn::cli
