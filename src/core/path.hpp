#pragma once

#include <filesystem>
#include <string>

namespace pibinn {

/// What to do about an error number of the system that concerns a path.
std::string path_hint(int error);

/// Whether there is anything by this name. Where the system does not tell, an io error with its
/// reason: a folder without permission, a name that is too long, a loop of links.
bool path_exists(const std::filesystem::path& path);
/// The same of a folder; links to folders count.
bool is_folder(const std::filesystem::path& path);

/// The file that a path stands for, with the links at its end followed. It need not exist.
std::filesystem::path without_links(const std::filesystem::path& path);

/// Whether two paths are one file, be it by links or by other spellings; neither need exist.
bool same_file(const std::filesystem::path& one, const std::filesystem::path& other);

/// Whether a path is a folder or anything beneath it, by the same rules.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace pibinn
