#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pibinn/image.hpp"

namespace pibinn {

inline constexpr std::string_view jpeg_magic{"\xff\xd8\xff", 3};
inline constexpr std::string_view png_magic{"\x89PNG\r\n\x1a\n", 8};

/// Grey values of a file in memory; errors name `where`.
Image decode_jpeg(std::string_view bytes, const std::string& where);
Image decode_png(std::string_view bytes, const std::string& where);

/// The error of a decoder that gave up: `format` is "JPEG" or "PNG", `why` what its library says.
[[noreturn]] void fail_decode(std::string_view format, const char* why, const std::string& where);

/// Refuses a picture that is too large, or larger than its file warrants (data/claims.hpp), before
/// memory is allocated for it. A pixel takes so many bytes until it is grey.
void require_picture_size(std::size_t height, std::size_t width, double bytes_per_pixel,
                          std::uint64_t file_bytes, const std::string& where);

/// Rec. 601.
inline float luma(float red, float green, float blue) {
    return 0.299F * red + 0.587F * green + 0.114F * blue;
}

}  // namespace pibinn
