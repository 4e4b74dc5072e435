#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/matrix.hpp"

namespace pibinn::cli {

/// The rows of an array file, refused when there are none or when they are not `cols` long.
Batch read_rows(const std::string& file, std::size_t cols, std::string_view noun);

/// Refuses an output whose name does not end in one of `suffixes`, or that cannot be written,
/// before work is spent on it. Devices and pipes may have any name.
void require_output(const std::string& file, std::initializer_list<std::string_view> suffixes);

/// The same of an array in any format that is written, which may be FILE:NAME.
void require_array_output(const std::string& place);

/// Refuses an output that is one of the files read, also by another name or as FILE:NAME. Inputs
/// that are empty or do not exist are ignored.
void require_other_file(const std::string& out, const std::vector<std::string>& inputs);

}  // namespace pibinn::cli
