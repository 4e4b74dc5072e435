#pragma once

#include <filesystem>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Numbers as text, a row a line, parted by commas, semicolons, tabs or spaces. Empty lines and
/// those that start with # are passed over, and so is a first line of names.
Batch read_csv(const std::filesystem::path& path);

}  // namespace pibinn
