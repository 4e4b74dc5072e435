#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/array_format.hpp"
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

/// The cells of a line: separated by semicolons if it has one, otherwise by commas, otherwise by
/// space.
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

/// Whether a cell is a complex number as numpy, MATLAB or Excel writes it: 1+2j, (1-2j), 3i.
bool is_complex(std::string_view cell) {
    if (cell.starts_with('(') && cell.ends_with(')')) cell = cell.substr(1, cell.size() - 2);
    if (!cell.ends_with('j') && !cell.ends_with('i')) return false;
    cell.remove_suffix(1);
    double value = 0;
    if (parse(cell, value)) return true;
    for (std::size_t at = 1; at < cell.size(); ++at)
        if ((cell[at] == '+' || cell[at] == '-') && parse(cell.substr(0, at), value) &&
            parse(cell.substr(at), value))
            return true;
    return false;
}

/// Numbers as text, one row per line, separated by commas, semicolons, tabs or spaces. Empty lines
/// and those that start with # are passed over, and so is a first line of names.
template <class T>
Matrix<T> read_csv(const std::string& where) {
    const std::string text = read_file(where);
    std::vector<T> values;
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
        if (rows == 0 && !named && std::none_of(cells.begin(), cells.end(), [&](auto c) {
                return parse(c, value) || is_complex(c);
            })) {
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
                    is_complex(cell)
                        ? "a complex number takes two columns, real part and imaginary part; or "
                          "save the array as .npy"
                        : "write numbers with a point, such as 0.25, separated by commas");
            values.push_back(static_cast<T>(value));
            if (!std::isfinite(static_cast<float>(value)))
                fail_input(fmt::format("'{}' line {}: {} is not a finite float32", where, number,
                                       shown(cell)),
                           "replace NaN and infinite values, scale large ones down");
        }
        ++rows;
    }
    Matrix<T> batch(rows, cols);
    std::copy(values.begin(), values.end(), batch.data());
    return batch;
}

/// Rows as lines with commas, every number in the shortest form that gives the same float32 again.
class CsvWriter final : public RowWriter {
public:
    explicit CsvWriter(const NewArray& array) : file_(array.file), cols_(array.cols) {}

    void write(ConstBatchView rows) override {
        if (rows.cols != cols_)
            fail_usage(fmt::format("expected rows of {} numbers, got {}", cols_, rows.cols),
                       "every row of an array has the same length");
        std::string lines;
        for (std::size_t i = 0; i < rows.rows; ++i) {
            for (std::size_t j = 0; j < rows.cols; ++j) {
                std::array<char, 32> digits;
                const auto end = std::to_chars(digits.begin(), digits.end(), rows(i, j)).ptr;
                if (j > 0) lines += ',';
                lines.append(digits.begin(), end);
            }
            lines += '\n';
            if (lines.size() < kLinesBytes) continue;
            file_.write(lines);
            lines.clear();
        }
        file_.write(lines);
    }
    void commit() override { file_.commit(); }

private:
    static constexpr std::size_t kLinesBytes = 1U << 20U;

    AtomicFile file_;
    std::size_t cols_;
};

}  // namespace

extern const ArrayFormat csv_format;
const ArrayFormat csv_format{
    .suffix = ".csv",
    .named = false,
    .text = true,
    .read = [](const std::string& file, const std::string&, Digits digits) -> UserArray {
        if (digits == Digits::all) return read_csv<double>(file);
        return read_csv<float>(file);
    },
    .read_sparse = nullptr,
    .open = nullptr,
    .create = [](const NewArray& array) -> std::unique_ptr<RowWriter> {
        return std::make_unique<CsvWriter>(array);
    },
    .require_name = nullptr};

}  // namespace pibinn
