#pragma once

#include <filesystem>

namespace pibinn {

/// Makes a folder for results and its parents.
void make_folder(const std::filesystem::path& folder);

/// Refuses a path that cannot be written to, before work is spent on what should go there.
void require_writable(const std::filesystem::path& path);

}  // namespace pibinn
