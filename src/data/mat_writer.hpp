#pragma once

#include <cstdint>

#include "data/array_format.hpp"

namespace pibinn {

/// MATLAB loads no variable of version 5 that is larger.
inline constexpr std::uint64_t mat_most_bytes = 0x7fff0000;

/// Refuses a name that MATLAB does not allow for a variable.
void require_mat_name(const std::string& file, const std::string& name);

/// Writes a MATLAB file of version 5 with one matrix of class single, real or complex. Without a
/// name of its own it is called after the file, made a name that MATLAB allows. The same numbers
/// give the same bytes.
void save_mat(const NewArray& array, ConstBatchView values);

}  // namespace pibinn
