#include "pibinn/image.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>

#include <png.h>

#include <fmt/format.h>

#include "core/file.hpp"
#include "data/bytes.hpp"
#include "data/claims.hpp"
#include "data/image_codecs.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr double kMostPixels = 1e8;
constexpr std::size_t kGap = 8;

}  // namespace

void fail_decode(std::string_view format, const char* why, const std::string& where) {
    fail_input(fmt::format("'{}' is a damaged {} picture: {}", where, format, excerpt(why)),
               "copy or save the picture again");
}

void require_picture_size(std::size_t height, std::size_t width, double bytes_per_pixel,
                          std::uint64_t file_bytes, const std::string& where) {
    const double pixels = static_cast<double>(height) * static_cast<double>(width);
    if (pixels > kMostPixels || height == 0 || width == 0)
        fail_input(fmt::format("'{}' is a picture of {} x {} pixels", where, width, height),
                   "1 to 100 million pixels are handled: scale it down");
    require_claim(pixels * bytes_per_pixel, claim_factor::pictures, file_bytes,
                  fmt::format("'{}' with {} x {} pixels", where, width, height),
                  "the file is damaged: save the picture again");
}

Image read_image(const std::filesystem::path& path) {
    const std::string bytes = read_file(path);
    if (bytes.starts_with(jpeg_magic)) return decode_jpeg(bytes, path.string());
    if (bytes.starts_with(png_magic)) return decode_png(bytes, path.string());
    fail_input(fmt::format("'{}' is not a JPEG or PNG picture", path.string()),
               "convert it to one of these first");
}

bool looks_like_image(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::string start(png_magic.size(), '\0');
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    return start.starts_with(jpeg_magic) || start == png_magic;
}

std::string encode_png(const Image& image) {
    std::vector<std::uint8_t> grey(image.size());
    std::transform(image.values().begin(), image.values().end(), grey.begin(), [](float v) {
        return static_cast<std::uint8_t>(std::lround(255 * std::clamp(v, 0.0F, 1.0F)));
    });
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    header.width = static_cast<png_uint_32>(image.cols());
    header.height = static_cast<png_uint_32>(image.rows());
    header.format = PNG_FORMAT_GRAY;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
    std::string bytes(size, '\0');
    const int written =
        png_image_write_to_memory(&header, bytes.data(), &size, 0, grey.data(), 0, nullptr);
    ensure(written != 0, "a grey picture can be written as PNG");
    bytes.resize(size);
    return bytes;
}

void write_png(const std::filesystem::path& path, const Image& image) {
    write_file(path, encode_png(image));
}

Image side_by_side(std::span<const Image> images) {
    if (images.empty()) fail_usage("no pictures to put side by side", "give at least one");
    std::size_t width = kGap * (images.size() - 1);
    for (const Image& image : images) width += image.cols();
    Image all(images.front().rows(), width);
    std::fill(all.values().begin(), all.values().end(), 1.0F);
    std::size_t at = 0;
    for (const Image& image : images) {
        if (image.rows() != all.rows())
            fail_usage(fmt::format("pictures of {} and {} pixels height side by side", all.rows(),
                                   image.rows()),
                       "give pictures of one height");
        for (std::size_t i = 0; i < image.rows(); ++i)
            std::copy(image.row(i).begin(), image.row(i).end(), all.row(i).begin() + at);
        at += image.cols() + kGap;
    }
    return all;
}

}  // namespace pibinn
