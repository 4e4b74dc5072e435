// room: data
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// A grey picture, row by row: 0 is black, 1 is white.
using Image = Matrix<float>;

/// A JPEG or PNG picture as grey values. Colours become luma by the weights 0.299, 0.587, 0.114
/// (Rec. 601) on the values as they are stored; 16-bit values are scaled, transparency is ignored,
/// CMYK is converted. A file that is damaged, truncated or over 100 million pixels is an input
/// error.
Image read_image(const std::filesystem::path& path);

/// Whether the first bytes of a file say that it is a JPEG or PNG picture.
bool looks_like_image(const std::filesystem::path& path);

/// An 8-bit grey PNG; values beyond 0 and 1 are cut.
void write_png(const std::filesystem::path& path, const Image& image);
std::string encode_png(const Image& image);

/// Pictures of one height next to each other, with a white gap.
Image side_by_side(std::span<const Image> images);

}  // namespace pibinn
