#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/array_format.hpp"
#include "data/zip.hpp"

namespace pibinn {

/// An .npz archive in memory and the arrays it lists.
struct NpzArchive {
    std::string where;
    std::string bytes;
    std::vector<ZipEntry> arrays;
    std::vector<std::string> names;  ///< of the arrays, without ".npy"

    bool has(std::string_view name) const;
    /// "FILE:NAME", as errors show it.
    std::string place_of(std::string_view name) const;
    /// One array as it is in a .npy file. An archive without it is an input error.
    UserArray read(std::string_view name, Digits digits) const;
    std::vector<std::int64_t> read_integers(std::string_view name) const;
    std::string read_text(std::string_view name) const;

private:
    /// The bytes of an array of numbers, whose header fits them, to be read so.
    std::string content(std::string_view name, Digits digits) const;
    const ZipEntry& entry(std::string_view name) const;
};

NpzArchive open_npz(const std::filesystem::path& path);

/// The only array of an archive, or the matrix of scipy.sparse.save_npz in full.
UserArray read_only_array(const NpzArchive& archive, Digits digits);

}  // namespace pibinn
