// room: data
#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// The names of the arrays in an .npz archive, in the order of the archive.
std::vector<std::string> npz_names(const std::filesystem::path& path);

/// One array of an .npz archive (numpy.savez or savez_compressed), under the rules of `read_npy`.
Batch read_npz(const std::filesystem::path& path, const std::string& name);
/// The only array of an archive, or the matrix of scipy.sparse.save_npz in full. Another archive of
/// several arrays is an input error that lists them.
Batch read_npz(const std::filesystem::path& path);

/// A view on the numbers of an array to be written: spans become 1-D arrays, views 2-D ones.
using NpzValues =
    std::variant<ConstBatchView, std::span<const float>, MatrixView<const std::uint8_t>,
                 std::span<const std::uint8_t>, MatrixView<const std::complex<float>>>;

struct NpzArray {
    std::string name;
    NpzValues values;
};

/// Writes an uncompressed archive that numpy.load reads. The same arrays give the same bytes; the
/// file appears whole or not at all.
void write_npz(const std::filesystem::path& path, std::span<const NpzArray> arrays);

}  // namespace pibinn
