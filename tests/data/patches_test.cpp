#include "pibinn/patches.hpp"

#include <cmath>
#include <map>
#include <set>

#include "data/files.hpp"

namespace pibinn {
namespace {

/// Picture k has the grey value k / 255 everywhere, so that a patch tells where it is from.
void write_flat(const std::filesystem::path& path, int k, std::size_t rows = 20,
                std::size_t cols = 30) {
    std::filesystem::create_directories(path.parent_path());
    Image image(rows, cols);
    for (float& v : image.values()) v = static_cast<float>(k) / 255;
    write_png(path, image);
}

std::map<int, int> pictures_of(const Batch& patches) {
    std::map<int, int> counts;
    for (std::size_t i = 0; i < patches.rows(); ++i)
        ++counts[static_cast<int>(std::lround(255 * patches(i, 0)))];
    return counts;
}

PatchSpec spec_of(const TestFolder& folder) {
    PatchSpec spec;
    spec.folder = folder.path();
    spec.per_image = 4;
    return spec;
}

TEST(Patches, OfAPictureAreOnOneSideOnly) {
    const TestFolder folder;
    for (int k = 0; k < 10; ++k) write_flat(folder / (std::to_string(k) + ".png"), k);
    const PatchSet set = draw_patches(spec_of(folder), 1);
    EXPECT_EQ(set.train.rows(), 32u);
    EXPECT_EQ(set.test.rows(), 8u);
    EXPECT_EQ(set.train_images, 8u);
    EXPECT_EQ(set.test_images, 2u);
    EXPECT_TRUE(set.skipped.empty());
    const auto train = pictures_of(set.train), test = pictures_of(set.test);
    EXPECT_EQ(train.size(), 8u);
    EXPECT_EQ(test.size(), 2u);
    for (const auto& [k, count] : test) {
        EXPECT_EQ(train.count(k), 0u);
        EXPECT_EQ(count, 4);
    }
    EXPECT_NE(pictures_of(draw_patches(spec_of(folder), 2).test), test) << "another seed";
    EXPECT_EQ(draw_patches(spec_of(folder), 1).train, set.train);

    PatchSpec mixed = spec_of(folder);
    mixed.split_by_image = false;
    mixed.train = 30;
    mixed.test = 10;
    const PatchSet both = draw_patches(mixed, 1);
    std::set<int> shared;
    const auto mixed_train = pictures_of(both.train);
    for (const auto& [k, count] : pictures_of(both.test))
        if (mixed_train.count(k)) shared.insert(k);
    EXPECT_GT(shared.size(), 2u);
}

TEST(Patches, AreWindowsOfThePicture) {
    const TestFolder folder;
    Image image(12, 16);
    for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<float>(i) / 255;
    write_png(folder / "a.png", image);
    write_png(folder / "b.png", image);
    const PatchSet set = draw_patches(spec_of(folder), 1);
    std::set<std::size_t> places;
    for (std::size_t p = 0; p < set.train.rows(); ++p) {
        const auto first = static_cast<std::size_t>(std::lround(255 * set.train(p, 0)));
        const std::size_t top = first / 16, left = first % 16;
        places.insert(first);
        ASSERT_LE(top + 8, 12u);
        ASSERT_LE(left + 8, 16u);
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t j = 0; j < 8; ++j)
                ASSERT_NEAR(set.train(p, 8 * i + j), image(top + i, left + j), 1e-6);
    }
    EXPECT_GT(places.size(), 1u);
}

TEST(Patches, BadFilesAreNamedAndLeftOut) {
    const TestFolder folder;
    for (int k = 0; k < 4; ++k) write_flat(folder / (std::to_string(k) + ".png"), k);
    write_file(folder / "notes.txt", "not a picture");
    write_file(folder / ".hidden", "not told");
    write_flat(folder / "tiny.png", 9, 7, 30);
    const std::string jpeg = flat_jpeg(JCS_RGB, {1, 2, 3}, 40);
    write_file(folder / "cut.jpg", jpeg.substr(0, jpeg.size() / 2));
    const PatchSet set = draw_patches(spec_of(folder), 1);
    EXPECT_EQ(set.train.rows() + set.test.rows(), 16u);
    ASSERT_EQ(set.skipped.size(), 3u);
    std::string all;
    for (const std::string& line : set.skipped) all += line + "\n";
    EXPECT_NE(all.find("notes.txt: not a JPEG or PNG picture"), std::string::npos);
    EXPECT_NE(all.find("tiny.png: 30 x 7 pixels, smaller than a patch"), std::string::npos);
    EXPECT_NE(all.find("cut.jpg: "), std::string::npos);
}

TEST(Patches, TooFewPicturesAreRefused) {
    const TestFolder folder;
    const auto message = [&](const PatchSpec& spec) {
        return message_of([&] { draw_patches(spec, 1); });
    };
    EXPECT_NE(message(spec_of(folder)).find("0 usable pictures"), std::string::npos);
    write_flat(folder / "0.png", 0);
    EXPECT_NE(message(spec_of(folder)).find("1 usable pictures, but 2"), std::string::npos);
    write_flat(folder / "1.png", 1);
    PatchSpec spec = spec_of(folder);
    spec.train = 9;
    EXPECT_NE(message(spec).find("2 usable pictures, but 3"), std::string::npos);
    spec.test = 1;
    EXPECT_NE(message(spec).find("2 usable pictures, but 4"), std::string::npos);
    spec.folder = folder / "missing";
    EXPECT_NE(message(spec).find("not a folder"), std::string::npos);
}

TEST(Patches, TheFoldersOfBsds500AreKnown) {
    const TestFolder folder;
    for (const char* part : {"train", "val", "test"})
        write_flat(folder / ("BSDS500/data/images/" + std::string(part) + "/1.png"), 7);
    write_flat(folder / "BSDS500/documentation/logo.png", 200);
    for (const char* inner : {"", "BSDS500", "BSDS500/data"}) {
        PatchSpec spec = spec_of(folder);
        spec.folder = folder / inner;
        const PatchSet set = draw_patches(spec, 1);
        EXPECT_EQ(set.train.rows() + set.test.rows(), 12u) << inner;
        EXPECT_EQ(pictures_of(set.train).count(200), 0u) << inner;
    }
}

TEST(Mosaic, OfOverlappingPatchesIsThePicture) {
    Image image(13, 19);
    for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<float>(i);
    for (const std::size_t stride : {std::size_t{1}, std::size_t{4}, std::size_t{8}}) {
        PatchMosaic mosaic(13, 19, 8);
        for (const std::size_t top : patch_places(13, 8, stride))
            for (const std::size_t left : patch_places(19, 8, stride)) {
                std::vector<float> patch;
                for (std::size_t i = 0; i < 8; ++i)
                    patch.insert(patch.end(), &image(top + i, left), &image(top + i, left) + 8);
                mosaic.add(top, left, patch);
            }
        const Image back = mosaic.image();
        for (std::size_t i = 0; i < image.size(); ++i)
            ASSERT_NEAR(back.data()[i], image.data()[i], 1e-4) << stride;
    }
    EXPECT_EQ(patch_places(8, 8, 4), (std::vector<std::size_t>{0}));
    EXPECT_EQ(patch_places(17, 8, 4), (std::vector<std::size_t>{0, 4, 8, 9}));
}

TEST(Patches, AShapeThatDoesNotFitIsTheCallersMistake) {
    const auto kind_of = [](auto&& work) {
        try {
            work();
        } catch (const Error& error) {
            return error.kind();
        }
        return ErrorKind::failed;
    };
    EXPECT_EQ(kind_of([] { patch_places(7, 8, 4); }), ErrorKind::usage);
    EXPECT_EQ(kind_of([] { patch_places(8, 8, 0); }), ErrorKind::usage);
    PatchMosaic mosaic(8, 9, 4);
    const std::vector<float> patch(16, 0.5F);
    mosaic.add(4, 5, patch);
    EXPECT_EQ(kind_of([&] { mosaic.add(5, 5, patch); }), ErrorKind::usage);
    EXPECT_EQ(kind_of([&] { mosaic.add(4, 6, patch); }), ErrorKind::usage);
    EXPECT_EQ(kind_of([&] { mosaic.add(0, 0, std::span(patch).first(15)); }), ErrorKind::usage);
    PatchSpec spec;
    spec.side = 0;
    EXPECT_EQ(kind_of([&] { draw_patches(spec, 1); }), ErrorKind::usage);
    const std::vector<Image> images{Image(2, 3), Image(3, 3)};
    EXPECT_EQ(kind_of([&] { side_by_side(images); }), ErrorKind::usage);
    EXPECT_EQ(kind_of([&] { side_by_side({}); }), ErrorKind::usage);
}

}  // namespace
}  // namespace pibinn
