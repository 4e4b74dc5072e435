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

Batch read_rows(const std::string& file, std::size_t cols, std::string_view noun) {
    Batch rows = read_array(file);
    require_batch(rows, cols, noun, file);
    return rows;
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
