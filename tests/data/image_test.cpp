#include "pibinn/image.hpp"

#include <zlib.h>

#include "data/files.hpp"

namespace pibinn {
namespace {

std::string big(std::uint32_t v) {
    return {static_cast<char>(v >> 24), static_cast<char>(v >> 16), static_cast<char>(v >> 8),
            static_cast<char>(v)};
}

std::string chunk(const std::string& name, const std::string& data) {
    const std::string body = name + data;
    const auto crc =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big(static_cast<std::uint32_t>(data.size())) + body +
           big(static_cast<std::uint32_t>(crc));
}

/// A PNG by hand: `rows` are the unfiltered bytes, a 0 before each row.
std::string png(std::uint32_t width, std::uint32_t height, char depth, char color,
                const std::string& rows, const std::string& extra = "") {
    std::string packed(compressBound(static_cast<uLong>(rows.size())), '\0');
    uLongf size = static_cast<uLongf>(packed.size());
    compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()));
    packed.resize(size);
    const std::string header = big(width) + big(height) + depth + color + std::string(3, '\0');
    return std::string("\x89PNG\r\n\x1a\n") + chunk("IHDR", header) + extra +
           chunk("IDAT", packed) + chunk("IEND", "");
}

Image read(const TestFolder& folder, const std::string& bytes) {
    write_file(folder / "picture", bytes);
    return read_image(folder / "picture");
}

TEST(Png, EveryKindOfPixelBecomesGrey) {
    const TestFolder folder;
    const auto row = [](std::initializer_list<int> bytes) {
        std::string text(1, '\0');
        for (const int b : bytes) text += static_cast<char>(b);
        return text;
    };
    const Image grey = read(folder, png(2, 1, 8, 0, row({0, 51})));
    EXPECT_EQ(grey(0, 0), 0);
    EXPECT_FLOAT_EQ(grey(0, 1), 0.2F);
    const Image wide = read(folder, png(1, 1, 16, 0, row({0x80, 0x01})));
    EXPECT_FLOAT_EQ(wide(0, 0), 32769.0F / 65535);
    const Image alpha = read(folder, png(1, 1, 8, 4, row({102, 3})));
    EXPECT_FLOAT_EQ(alpha(0, 0), 0.4F) << "transparency is ignored";
    const Image color = read(folder, png(3, 1, 8, 2, row({255, 0, 0, 0, 255, 0, 0, 0, 255})));
    EXPECT_FLOAT_EQ(color(0, 0), 0.299F);
    EXPECT_FLOAT_EQ(color(0, 1), 0.587F);
    EXPECT_FLOAT_EQ(color(0, 2), 0.114F);
    const Image deep = read(folder, png(1, 1, 16, 6, row({255, 255, 0, 0, 0, 0, 1, 1})));
    EXPECT_FLOAT_EQ(deep(0, 0), 0.299F);
    const Image bits = read(folder, png(3, 1, 1, 0, row({0b10100000})));
    EXPECT_EQ(bits(0, 0), 1);
    EXPECT_EQ(bits(0, 1), 0);
    const Image palette = read(
        folder, png(1, 1, 8, 3, row({1}), chunk("PLTE", std::string("\0\0\0\xff\xff\xff", 6))));
    EXPECT_FLOAT_EQ(palette(0, 0), 1);
}

TEST(Png, ComesBackAsItWasWritten) {
    const TestFolder folder;
    Image image(3, 5);
    for (std::size_t i = 0; i < image.size(); ++i)
        image.data()[i] = static_cast<float>(17 * i) / 255;
    image(0, 0) = -1;
    write_png(folder / "a.png", image);
    image(0, 0) = 0;
    const Image back = read_image(folder / "a.png");
    ASSERT_EQ(back.rows(), 3u);
    for (std::size_t i = 0; i < image.size(); ++i)
        EXPECT_NEAR(back.data()[i], image.data()[i], 1e-6);
}

TEST(Png, LiesAndDamageAreRefused) {
    const TestFolder folder;
    const std::string good = png(2, 1, 8, 0, std::string("\0ab", 3));
    EXPECT_NE(message_of([&] { read(folder, png(60000, 60000, 8, 0, "")); }).find("60000"),
              std::string::npos);
    EXPECT_NE(message_of([&] { read(folder, png(9000, 9000, 8, 0, "")); }).find("bytes"),
              std::string::npos);
    for (const std::size_t length :
         {std::size_t{8}, std::size_t{20}, good.size() / 2, good.size() - 14})
        EXPECT_NE(message_of([&] { read(folder, good.substr(0, length)); }).find("damaged PNG"),
                  std::string::npos)
            << length;
    for (std::size_t at = 8; at + 12 < good.size(); ++at) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x55);
        write_file(folder / "bad.png", bad);
        EXPECT_THROW(read_image(folder / "bad.png"), Error) << at;
    }
}

TEST(Jpeg, EveryColourSpaceBecomesGrey) {
    const TestFolder folder;
    EXPECT_NEAR(read(folder, flat_jpeg(JCS_GRAYSCALE, {51}, 16))(3, 3), 0.2, 0.003);
    EXPECT_NEAR(read(folder, flat_jpeg(JCS_RGB, {255, 0, 0}, 16))(3, 3), 0.299, 0.006);
    EXPECT_NEAR(read(folder, flat_jpeg(JCS_RGB, {10, 200, 90}, 16))(3, 3),
                (0.299 * 10 + 0.587 * 200 + 0.114 * 90) / 255, 0.006);
    // Inks: cyan 40, magenta 80, yellow 120, black 60.
    const auto light = [](double ink) { return (255 - ink) / 255; };
    const double expected =
        light(60) * (0.299 * light(40) + 0.587 * light(80) + 0.114 * light(120));
    EXPECT_NEAR(read(folder, flat_jpeg(JCS_CMYK, {40, 80, 120, 60}, 16))(3, 3), expected, 0.006);
    EXPECT_NEAR(read(folder, flat_jpeg(JCS_CMYK, {215, 175, 135, 195}, 16, true))(3, 3), expected,
                0.006)
        << "Adobe's inverted inks";
}

TEST(Jpeg, DamageAndTruncationAreRefused) {
    const TestFolder folder;
    const std::string good = flat_jpeg(JCS_RGB, {10, 200, 90}, 64);
    for (const std::size_t length :
         {std::size_t{3}, std::size_t{30}, good.size() / 2, good.size() - 20})
        EXPECT_NE(message_of([&] { read(folder, good.substr(0, length)); }).find("damaged JPEG"),
                  std::string::npos)
            << length;
    // Whatever bytes are wrong, the answer is a picture or an error.
    std::size_t refused = 0;
    for (std::size_t at = 3; at < good.size(); at += 5) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ 0x5a);
        write_file(folder / "bad.jpg", bad);
        try {
            EXPECT_GT(read_image(folder / "bad.jpg").size(), 0u);
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 10u);
    std::string huge = good;
    const std::size_t frame = huge.find(std::string("\xff\xc0", 2));
    huge.replace(frame + 5, 4, std::string("\xf0\x00\xf0\x00", 4));
    EXPECT_NE(message_of([&] { read(folder, huge); }).find("61440"), std::string::npos);
}

/// A JPEG that says that it has other sides than it has.
std::string with_sides(std::string jpeg, bool progressive, unsigned side) {
    const std::size_t frame = jpeg.find(progressive ? "\xff\xc2" : std::string("\xff\xc0", 2));
    const char high = static_cast<char>(side >> 8U), low = static_cast<char>(side & 0xffU);
    return jpeg.replace(frame + 5, 4, {high, low, high, low});
}

TEST(Jpeg, MayTakeOnlyTheMemoryThatItsFileWarrants) {
    const TestFolder folder;
    for (const bool progressive : {false, true}) {
        const std::string good = flat_jpeg(JCS_RGB, {10, 200, 90}, 64, false, progressive);
        EXPECT_EQ(read(folder, good).size(), 64u * 64u);
        const std::string message =
            message_of([&] { read(folder, with_sides(good, progressive, 10'000)); });
        EXPECT_NE(message.find(progressive ? "10000 x 10000 pixels would take 1300.0 MB"
                                           : "10000 x 10000 pixels would take 700.0 MB"),
                  std::string::npos)
            << message;
    }
    // A flat picture, as small as JPEG makes it, is no lie.
    EXPECT_EQ(read(folder, flat_jpeg(JCS_GRAYSCALE, {51}, 4000, false, true)).rows(), 4000u);
}

TEST(Jpeg, OfHundredsOfEmptyScansIsRefused) {
    const TestFolder folder;
    const std::string good = flat_jpeg(JCS_GRAYSCALE, {51}, 64, false, true);
    const std::size_t last = good.rfind("\xff\xda");
    const std::string scan = good.substr(last, good.size() - 2 - last);
    const auto with_scans = [&](std::size_t more) {
        std::string bytes = good.substr(0, good.size() - 2);
        for (std::size_t i = 0; i < more; ++i) bytes += scan;
        return bytes + good.substr(good.size() - 2);
    };
    EXPECT_EQ(read(folder, with_scans(20)).rows(), 64u);
    EXPECT_NE(message_of([&] { read(folder, with_scans(400)); }).find("more than 64 scans"),
              std::string::npos);
}

TEST(Png, MayTakeOnlyTheMemoryThatItsFileWarrants) {
    const TestFolder folder;
    const std::string message = message_of([&] { read(folder, png(20'000, 5'000, 8, 0, "")); });
    EXPECT_NE(message.find("20000 x 5000 pixels would take 500.0 MB"), std::string::npos)
        << message;
}

TEST(Image, OtherFilesAreRefused) {
    const TestFolder folder;
    EXPECT_NE(message_of([&] { read(folder, "GIF89a"); }).find("not a JPEG or PNG"),
              std::string::npos);
    EXPECT_THROW(read_image(folder / "missing.png"), Error);
    EXPECT_FALSE(looks_like_image(folder / "missing.png"));
}

TEST(Image, StandSideBySideWithAGap) {
    Image a(2, 3), b(2, 4);
    std::fill(b.values().begin(), b.values().end(), 0.5F);
    const Image both = side_by_side(std::array{a, b});
    ASSERT_EQ(both.cols(), 3u + 8 + 4);
    EXPECT_EQ(both(1, 2), 0);
    EXPECT_EQ(both(1, 3), 1);
    EXPECT_EQ(both(1, 11), 0.5F);
}

}  // namespace
}  // namespace pibinn
