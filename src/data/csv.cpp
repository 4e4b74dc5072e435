#include "data/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/bytes.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kSpace);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The cells of a line: parted by ; where there is one, else by commas, else by space.
std::vector<std::string_view> cells_of(std::string_view line) {
    const char mark = line.find(';') != std::string_view::npos   ? ';'
                      : line.find(',') != std::string_view::npos ? ','
                                                                 : '\0';
    std::vector<std::string_view> cells;
    if (mark) {
        for (std::size_t at = 0; at <= line.size();) {
            const std::size_t end = std::min(line.find(mark, at), line.size());
            cells.push_back(trimmed(line.substr(at, end - at)));
            at = end + 1;
        }
        return cells;
    }
    for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
        cells.push_back(line.substr(at, end - at));
        at = line.find_first_not_of(kSpace, end);
    }
    return cells;
}

bool parse(std::string_view cell, double& value) {
    if (cell.starts_with('+')) cell.remove_prefix(1);
    const char* const end = cell.data() + cell.size();
    const auto [stop, error] = std::from_chars(cell.data(), end, value);
    return error == std::errc{} && stop == end && !cell.empty();
}

}  // namespace

Batch read_csv(const std::filesystem::path& path) {
    const std::string text = read_file(path);
    const std::string where = path.string();
    std::vector<float> values;
    std::size_t rows = 0, cols = 0, number = 0;
    bool named = false;
    std::string_view rest = text;
    if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // the mark of Windows' UTF-8
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        const std::vector<std::string_view> cells = cells_of(line);
        double value = 0;
        if (rows == 0 && !named &&
            std::none_of(cells.begin(), cells.end(), [&](auto c) { return parse(c, value); })) {
            named = true;
            continue;
        }
        if (rows > 0 && cells.size() != cols)
            fail_input(fmt::format("'{}' line {} has {} numbers, the lines before {}", where,
                                   number, cells.size(), cols),
                       "give every line as many numbers");
        cols = cells.size();
        for (const std::string_view cell : cells) {
            if (!parse(cell, value))
                fail_input(
                    fmt::format("'{}' line {}: {} is not a number", where, number, shown(cell)),
                    "write numbers with a point, such as 0.25, parted by commas");
            values.push_back(static_cast<float>(value));
            if (!std::isfinite(values.back()))
                fail_input(fmt::format("'{}' line {}: {} is not a finite float32", where, number,
                                       shown(cell)),
                           "replace NaN and infinite values, scale large ones down");
        }
        ++rows;
    }
    Batch batch(rows, cols);
    std::copy(values.begin(), values.end(), batch.data());
    return batch;
}

}  // namespace pibinn
