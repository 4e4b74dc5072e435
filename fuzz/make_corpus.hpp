#pragma once

#include <filesystem>

namespace pibinn::fuzz {

/// Each writes small valid files under corpus/READER, and under findings/READER the files that did
/// harm once, as far as they follow from a few words.
void make_arrays(const std::filesystem::path& folder);
void make_pictures(const std::filesystem::path& folder);
void make_models(const std::filesystem::path& folder);
void make_checkpoints(const std::filesystem::path& folder);
void make_configs(const std::filesystem::path& folder);

/// A file of one of these folders; its folder is made where there is none.
std::filesystem::path place(const std::filesystem::path& folder, const char* name);

}  // namespace pibinn::fuzz
