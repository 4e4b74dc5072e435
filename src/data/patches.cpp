#include "pibinn/patches.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/path.hpp"
#include "data/rows.hpp"
#include "pibinn/error.hpp"
#include "pibinn/random.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;

// As in the paper: 300 pictures, 25 patches each, 6000 to train and 1500 to test.
constexpr std::size_t kMostImages = 300;
constexpr std::string_view kTooSmall = "smaller than a patch";

/// The folder of pictures of a BSDS500 download, whichever level of it is named.
fs::path pictures_folder(const fs::path& folder) {
    for (const char* inner : {"BSDS500/data/images", "data/images", "images"})
        if (is_folder(folder / inner / "train")) return folder / inner;
    return folder;
}

std::string relative_name(const fs::path& file, const fs::path& folder) {
    return file.lexically_relative(folder).string();
}

/// The pictures beneath a folder, sorted. Other files are listed as skipped, except hidden ones.
std::vector<fs::path> list_pictures(const fs::path& folder, std::vector<std::string>& skipped) {
    std::error_code code;
    if (!fs::is_directory(folder, code))
        fail_io(fmt::format("'{}' is not a folder", folder.string()),
                "set PatchSpec::folder to a folder of JPEG or PNG pictures");
    std::vector<fs::path> files;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied,
                                        code);
    for (const fs::recursive_directory_iterator end; !code && at != end; at.increment(code)) {
        if (at->path().filename().string().starts_with('.')) continue;
        std::error_code own;  // of this entry: the walk goes on
        if (at->is_regular_file(own))
            files.push_back(at->path());
        else if (at->is_symlink(own) && !at->exists(own))
            skipped.push_back(relative_name(at->path(), folder) + ": a link to nothing");
    }
    std::sort(files.begin(), files.end());
    std::vector<fs::path> pictures;
    for (const fs::path& file : files)
        if (looks_like_image(file))
            pictures.push_back(file);
        else
            skipped.push_back(relative_name(file, folder) + ": not a JPEG or PNG picture");
    return pictures;
}

/// Patches of one picture at random places, one per row.
void cut_patches(const Image& image, const PatchSpec& spec, Stream stream, BatchView rows) {
    for (std::size_t p = 0; p < rows.rows; ++p) {
        const auto place = [&](std::size_t length) {
            return stream.below(static_cast<std::uint32_t>(length - spec.side + 1));
        };
        const std::size_t top = place(image.rows());
        const std::size_t left = place(image.cols());
        for (std::size_t i = 0; i < spec.side; ++i)
            std::copy_n(image.row(top + i).begin() + static_cast<std::ptrdiff_t>(left), spec.side,
                        rows.row(p).begin() + static_cast<std::ptrdiff_t>(i * spec.side));
    }
}

std::size_t images_for(std::size_t patches, const PatchSpec& spec) {
    return (patches + spec.per_image - 1) / spec.per_image;
}

struct WantedPatches {
    std::size_t train = 0, test = 0;
};

/// Fills in what the caller left open: all patches of the pictures, four fifths of them to train.
WantedPatches wanted_patches(const PatchSpec& spec, std::size_t images) {
    const std::size_t all = images * spec.per_image;
    const auto left = [&](std::size_t patches) {
        if (!spec.split_by_image) return all - std::min(all, patches);
        return (images - std::min(images, images_for(patches, spec))) * spec.per_image;
    };
    std::size_t most = images * 4 / 5 * spec.per_image;
    if (most == 0 && !spec.split_by_image) most = all * 4 / 5;  // one picture is enough
    WantedPatches wanted;
    wanted.train = spec.train ? *spec.train : spec.test ? left(*spec.test) : most;
    wanted.test = spec.test.value_or(left(wanted.train));
    return wanted;
}

/// The number of pictures to read at most.
std::size_t most_images(const PatchSpec& spec) {
    const std::size_t asked =
        images_for(spec.train.value_or(0), spec) + images_for(spec.test.value_or(0), spec);
    return spec.train && spec.test ? asked : std::max(kMostImages, asked + 1);
}

/// Pictures in random order, read until there are `most` good ones.
struct Draw {
    Batch patches;
    std::size_t images = 0;
};

Draw draw_from(const std::vector<fs::path>& pictures, const fs::path& folder, const PatchSpec& spec,
               std::uint64_t seed, std::vector<std::string>& skipped) {
    const std::size_t most = std::min(most_images(spec), pictures.size());
    Draw draw{Batch(most * spec.per_image, spec.side * spec.side), 0};
    for (const std::uint32_t index : Stream(seed, Purpose::split).permutation(pictures.size())) {
        if (draw.images == most) break;
        const std::string name = relative_name(pictures[index], folder);
        try {
            const Image image = read_image(pictures[index]);
            if (image.rows() < spec.side || image.cols() < spec.side) {
                skipped.push_back(fmt::format("{}: {} x {} pixels, {}", name, image.cols(),
                                              image.rows(), kTooSmall));
                continue;
            }
            const std::size_t first = draw.images * spec.per_image;
            cut_patches(image, spec, Stream(seed, Purpose::patches, index),
                        draw.patches.view().row_range(first, first + spec.per_image));
            ++draw.images;
        } catch (const Error& error) {
            skipped.push_back(name + ": " + error.message());
        }
    }
    return draw;
}

/// The hint depends on why there are too few pictures.
std::string too_few_hint(const std::vector<fs::path>& pictures, std::size_t usable,
                         const std::vector<std::string>& skipped) {
    if (pictures.empty()) return "set PatchSpec::folder to a folder of JPEG or PNG pictures";
    const bool small = std::any_of(skipped.begin(), skipped.end(),
                                   [](const std::string& why) { return why.ends_with(kTooSmall); });
    if (usable == 0 && small) return "give larger pictures, or lower PatchSpec::side";
    if (usable == 0) return "give pictures that are not damaged";
    return "add pictures, raise PatchSpec::per_image, or lower PatchSpec::train and "
           "PatchSpec::test";
}

}  // namespace

PatchSet draw_patches(const PatchSpec& spec, std::uint64_t seed) {
    if (spec.side == 0 || spec.per_image == 0)
        fail_usage(fmt::format("{} patches per picture of {} x {} pixels", spec.per_image,
                               spec.side, spec.side),
                   "set PatchSpec::side and PatchSpec::per_image to at least 1");
    const fs::path folder = pictures_folder(spec.folder);
    PatchSet set;
    const std::vector<fs::path> pictures = list_pictures(folder, set.skipped);
    const Draw draw = draw_from(pictures, folder, spec, seed, set.skipped);
    const WantedPatches wanted = wanted_patches(spec, draw.images);
    const std::size_t need = spec.split_by_image
                                 ? images_for(wanted.train, spec) + images_for(wanted.test, spec)
                                 : images_for(wanted.train + wanted.test, spec);
    if (draw.images < need || wanted.train == 0 || wanted.test == 0)
        fail_input(
            fmt::format("'{}' holds {} usable pictures, but {} are needed{}", folder.string(),
                        draw.images, std::max<std::size_t>(need, spec.split_by_image ? 2 : 1),
                        set.skipped.empty() ? ""
                                            : fmt::format(" ({} files skipped, such as {})",
                                                          set.skipped.size(), set.skipped.back())),
            too_few_hint(pictures, draw.images, set.skipped));

    // Patches are shuffled. When split by image, the training patches are in the order of their
    // pictures, so that the last rows, kept for validation, are of other pictures.
    std::vector<std::uint32_t> rows =
        Stream(seed, Purpose::split, 1).permutation(draw.images * spec.per_image);
    std::size_t border = wanted.train;
    set.train_images = set.test_images = draw.images;
    if (spec.split_by_image) {
        set.train_images = images_for(wanted.train, spec);
        set.test_images = images_for(wanted.test, spec);
        border = set.train_images * spec.per_image;
        std::stable_partition(rows.begin(), rows.end(),
                              [&](std::uint32_t row) { return row < border; });
        std::sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(border));
    }
    const std::span<const std::uint32_t> all = rows;
    set.train = pick_rows(draw.patches, all.subspan(0, wanted.train));
    set.test = pick_rows(draw.patches, all.subspan(border, wanted.test));
    return set;
}

std::vector<std::size_t> patch_places(std::size_t length, std::size_t side, std::size_t stride) {
    if (side == 0 || side > length || stride == 0)
        fail_usage(fmt::format("patches of {} pixels every {} pixels do not cover {} pixels", side,
                               stride, length),
                   "give a picture of at least one patch, and a stride of at least 1");
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at + side < length; at += stride) places.push_back(at);
    places.push_back(length - side);
    return places;
}

PatchMosaic::PatchMosaic(std::size_t height, std::size_t width, std::size_t side)
    : sum_(height, width), count_(height, width), side_(side) {}

void PatchMosaic::add(std::size_t top, std::size_t left, std::span<const float> patch) {
    if (patch.size() != side_ * side_ || top + side_ > sum_.rows() || left + side_ > sum_.cols())
        fail_usage(fmt::format("a patch of {} pixels at row {}, column {} of a picture of {} x {}",
                               patch.size(), top, left, sum_.cols(), sum_.rows()),
                   fmt::format("give {0} x {0} pixels within the picture", side_));
    for (std::size_t i = 0; i < side_; ++i)
        for (std::size_t j = 0; j < side_; ++j) {
            sum_(top + i, left + j) += patch[i * side_ + j];
            ++count_(top + i, left + j);
        }
}

Image PatchMosaic::image() const {
    Image image(sum_.rows(), sum_.cols());
    for (std::size_t i = 0; i < image.size(); ++i)
        image.data()[i] =
            static_cast<float>(sum_.data()[i] / std::max<std::uint32_t>(1, count_.data()[i]));
    return image;
}

}  // namespace pibinn
