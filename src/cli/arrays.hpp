#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/array.hpp"
#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/model.hpp"

namespace pibinn::cli {

/// What the rows of an array must hold, and how they are laid out inside.
struct ExpectedRows {
    std::size_t width = 0;  ///< numbers per row, two per complex entry
    RowLayout layout = {};
    std::string_view noun = "signal entries";

    std::size_t entries() const { return layout.entries(width); }
};

ExpectedRows signals_of(const Model& model);
ExpectedRows measurements_of(const Model& model);

/// Refuses an array of no rows, of real numbers where complex ones are expected or the reverse, and
/// of rows of another length. A complex number has two of the columns.
void require_rows(std::size_t rows, std::size_t cols, Numbers numbers, const ExpectedRows& expected,
                  const std::string& place);

/// The rows of an array file, so checked and laid out. `text` says what columns of text hold.
Batch read_rows(const std::string& file, const ExpectedRows& expected, Numbers text);
/// The same of a file that is open.
Batch read_rows(ArrayRows& array, const ExpectedRows& expected, const std::string& file);

/// Rows from inside as they are written: complex ones interleaved.
Batch written_rows(Batch rows, const RowLayout& layout);
inline Numbers numbers_of(const RowLayout& layout) {
    return layout.complex ? Numbers::complex : Numbers::real;
}
void write_rows(const std::string& place, Batch rows, const RowLayout& layout);

/// What --complex says of text and streams, refused where no input is one: other formats say
/// themselves what their numbers are.
Numbers text_numbers(bool complex, const std::vector<std::string>& inputs);
inline constexpr const char* kComplexHelp =
    "every two numbers of a .csv line, or of a stream, are one complex number";

/// Refuses an output whose name does not end in one of `suffixes`, or that cannot be written,
/// before work is spent on it. Devices and pipes may have any name.
void require_output(const std::string& file, std::initializer_list<std::string_view> suffixes);

/// The same of an array in any format that is written, which may be FILE:NAME.
void require_array_output(const std::string& place);

/// Refuses an output that is one of the files read, also by another name or as FILE:NAME. Inputs
/// that are empty or do not exist are ignored.
void require_other_file(const std::string& out, const std::vector<std::string>& inputs);

}  // namespace pibinn::cli
