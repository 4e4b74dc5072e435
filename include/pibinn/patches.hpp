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
    Batch train, test;  ///< one patch per row, its pixels row by row
    std::size_t train_images = 0, test_images = 0;
    std::vector<std::string> skipped;  ///< "NAME: why" of each file that gave no patches
};

/// Draws from all pictures beneath the folder. A BSDS500 download may be named by any of its
/// folders. The seed determines the pictures and the places on them. Files that are not pictures,
/// damaged or smaller than a patch are skipped and listed; too few pictures are an error.
PatchSet draw_patches(const PatchSpec& spec, std::uint64_t seed);

/// Positions of patches that cover a length: one per `stride` pixels, and one at the end.
std::vector<std::size_t> patch_places(std::size_t length, std::size_t side, std::size_t stride);

/// A picture made of overlapping patches. Each pixel is the mean of the patches that cover it.
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
