#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "pibinn/matrix.hpp"

namespace pibinn::cli {

/// The rows of an array file, refused when there are none or when they are not `cols` long.
Batch read_rows(const std::string& file, std::size_t cols, std::string_view noun);

/// Refuses an output whose name does not end in one of `suffixes`, or that cannot be written,
/// before work is spent on it. Devices and pipes may have any name.
void require_output(const std::string& file, std::initializer_list<std::string_view> suffixes);

/// Makes a folder for results, with those it stands in.
void make_folder(const std::string& folder);

}  // namespace pibinn::cli
