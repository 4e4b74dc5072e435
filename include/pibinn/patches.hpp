// room: data
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pibinn/image.hpp"

namespace pibinn {

/// Random square patches of the pictures in a folder.
struct PatchSpec {
    std::filesystem::path folder;
    std::size_t side = 8;
    std::size_t per_image = 25;
    std::optional<std::size_t> train, test;  ///< unless given, four fifths of up to 300 pictures
    bool split_by_image = true;              ///< no picture is on both sides
};

struct PatchSet {
    Batch train, test;  ///< a patch a row, its pixels row by row
    std::size_t train_images = 0, test_images = 0;
    std::vector<std::string> skipped;  ///< "NAME: why" of each file that gave no patches
};

/// All pictures beneath the folder may be chosen; BSDS500 is known by its folders, whichever of
/// them is named. Which pictures and where on them follows from the seed. Files that are no
/// pictures, damaged or smaller than a patch are left out and told; too few pictures are an error.
PatchSet draw_patches(const PatchSpec& spec, std::uint64_t seed);

/// Where patches stand on a picture so that they cover it: every `stride` pixels, and at the end.
std::vector<std::size_t> patch_places(std::size_t length, std::size_t side, std::size_t stride);

/// A picture put together from overlapping patches, each pixel the mean of what they say.
class PatchMosaic {
public:
    PatchMosaic(std::size_t height, std::size_t width, std::size_t side);

    void add(std::size_t top, std::size_t left, std::span<const float> patch);
    Image image() const;

private:
    Matrix<double> sum_;
    Matrix<std::uint32_t> count_;
    std::size_t side_;
};

}  // namespace pibinn
