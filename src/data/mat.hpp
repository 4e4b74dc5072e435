#pragma once

#include <filesystem>
#include <string>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// One variable of a MATLAB file, version 5 to 7.3; without a name the only one it holds. Real
/// numbers, full or sparse; anything else is an input error.
Batch read_mat(const std::filesystem::path& path, const std::string& name);

}  // namespace pibinn
