#include "cli/arrays.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/folder.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/npy.hpp"

namespace pibinn::cli {

namespace {

bool is_text(const std::string& place) { return place == "-" || place.ends_with(".csv"); }

/// Whoever has numbers of the other kind is told what to do with them.
[[noreturn]] void fail_numbers(std::size_t rows, std::size_t found, const ExpectedRows& expected,
                               const std::string& place) {
    const bool complex = expected.layout.complex;
    const char* const hint =
        complex
            ? (is_text(place) ? "add --complex where every two columns are one number: real part, "
                                "imaginary part"
                              : "give complex numbers: an imaginary part of zero will do, "
                                "array.astype('complex64')")
            : (is_text(place) ? "remove --complex, or give the measurements and signals of a "
                                "complex model"
                              : "give real numbers, such as array.real, or use a model of "
                                "complex signals");
    fail_input(fmt::format("expected {} {} {} per row, got {} {} ones ('{}' is {} x {})",
                           expected.entries(), complex ? "complex" : "real", expected.noun, found,
                           complex ? "real" : "complex", place, rows, found),
               hint);
}

}  // namespace

ExpectedRows signals_of(const Model& model) {
    return {model.op.cols(), model.domain.signal_rows(), "signal entries"};
}

ExpectedRows measurements_of(const Model& model) {
    return {model.op.rows(), model.domain.measurement_rows(), "measurements"};
}

void require_rows(std::size_t rows, std::size_t cols, Numbers numbers, const ExpectedRows& expected,
                  const std::string& place) {
    const RowLayout found{numbers == Numbers::complex, expected.layout.vectors};
    if (rows > 0 && found.complex != expected.layout.complex)
        fail_numbers(rows, found.entries(cols), expected, place);
    const std::string noun = expected.layout.complex ? fmt::format("complex {}", expected.noun)
                                                     : std::string(expected.noun);
    require_shape(rows, found.entries(cols), expected.entries(), noun, place);
}

Batch read_rows(const std::string& file, const ExpectedRows& expected, Numbers text) {
    ArrayRows array(file, text);
    return read_rows(array, expected, file);
}

Batch read_rows(ArrayRows& array, const ExpectedRows& expected, const std::string& file) {
    require_rows(array.rows(), array.cols(), array.numbers(), expected, file);
    Batch rows = array.read(0, array.rows());
    return expected.layout.complex ? split_complex(rows, expected.layout.vectors) : rows;
}

Batch written_rows(Batch rows, const RowLayout& layout) {
    return layout.complex ? interleave_complex(rows, layout.vectors) : std::move(rows);
}

void write_rows(const std::string& place, Batch rows, const RowLayout& layout) {
    write_array(place, written_rows(std::move(rows), layout), numbers_of(layout));
}

Numbers text_numbers(bool complex, const std::vector<std::string>& inputs) {
    if (!complex) return Numbers::real;
    if (std::none_of(inputs.begin(), inputs.end(), is_text))
        fail_usage("--complex is for .csv files and streams, and none is read",
                   "remove it: other formats say themselves what their numbers are");
    return Numbers::complex;
}

void require_output(const std::string& file, std::initializer_list<std::string_view> suffixes) {
    std::error_code code;
    const auto status = std::filesystem::status(file, code);
    if (!std::filesystem::is_other(status) &&
        std::none_of(suffixes.begin(), suffixes.end(),
                     [&](std::string_view suffix) { return file.ends_with(suffix); }))
        fail_usage(fmt::format("output '{}' does not end in {}", file, fmt::join(suffixes, " or ")),
                   fmt::format("name it {}{}, for example", file, *suffixes.begin()));
    require_writable(file);
}

void require_array_output(const std::string& place) {
    std::error_code code;
    if (!names_array(place) && !std::filesystem::is_other(std::filesystem::status(place, code)))
        fail_usage(fmt::format("output '{}' does not end in {}", place,
                               fmt::join(written_array_suffixes(), ", ")),
                   fmt::format("name it {}.npy, for example", place));
    require_writable_array(place);
    require_writable(array_file(place));
}

void require_other_file(const std::string& out, const std::vector<std::string>& inputs) {
    for (const std::string& input : inputs) {
        std::error_code code;  // a file that does not exist is not overwritten
        const std::string file = array_file(input);
        // A terminal or /dev/null may well be both.
        if (std::filesystem::equivalent(array_file(out), file, code) &&
            std::filesystem::is_regular_file(file, code))
            fail_usage(fmt::format("the output '{}' would overwrite the input '{}'", out, input),
                       "choose another --out");
    }
}

}  // namespace pibinn::cli
