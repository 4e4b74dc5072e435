#include <algorithm>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "data/jpeg_bytes.hpp"
#include "make_corpus.hpp"
#include "png_mutator.hpp"

namespace pibinn::fuzz {

namespace {

struct PngKind {
    std::uint32_t width = 2, height = 2;
    char depth = 8, colours = 0, interlaced = 0;
};

std::string png(const PngKind& kind, const std::string& samples, const std::string& palette = "") {
    std::string header = bytes_of(kind.width, true) + bytes_of(kind.height, true);
    header += {kind.depth, kind.colours, 0, 0, kind.interlaced};
    std::vector<PngChunk> chunks{{"IHDR", header}};
    if (!palette.empty()) chunks.push_back({"PLTE", palette});
    chunks.push_back({"IDAT", deflated(samples)});
    chunks.push_back({"IEND", ""});
    return pack_png(chunks);
}

/// A picture of slowly changing samples.
std::string jpeg(J_COLOR_SPACE space, int channels, unsigned side, bool progressive) {
    return jpeg_bytes(
        {space, channels, side, 50, {}, progressive},
        [](std::size_t i, std::size_t j) { return static_cast<unsigned char>(16 * i + 5 * j); });
}

/// The same picture with other sides in its frame header.
std::string resized(std::string picture, std::uint16_t side) {
    for (std::size_t at = 2; at + 9 < picture.size();) {
        const auto marker = static_cast<std::uint8_t>(picture[at + 1]);
        if (marker >= 0xc0 && marker <= 0xc2) {
            picture.replace(at + 5, 4, bytes_of(side, true) + bytes_of(side, true));
            break;
        }
        at += 2 + std::size_t{number_at<std::uint16_t>(picture, at + 2, true)};
    }
    return picture;
}

/// A progressive grey picture of many scans that change nothing: each says in a few bytes that all
/// blocks end at once.
std::string many_scans(std::uint16_t side, std::size_t scans) {
    using namespace std::string_literals;
    const auto segment = [](char marker, const std::string& body) {
        return "\xff"s + marker + bytes_of(static_cast<std::uint16_t>(body.size() + 2), true) +
               body;
    };
    const std::string sides = bytes_of(side, true) + bytes_of(side, true);
    // One code of one bit: the end of 16384 blocks and of as many as the next 14 bits say.
    const std::string codes = "\x10\1"s + std::string(15, '\0') + "\xe0";
    std::string file = "\xff\xd8" + segment('\xdb', std::string(1, '\0') + std::string(64, '\1')) +
                       segment('\xc2', "\x08" + sides + "\1\1\x11\0"s) + segment('\xc4', codes);
    std::string bits;
    for (std::size_t blocks = std::size_t{side} * side / 64; blocks > 0;
         blocks -= std::min<std::size_t>(blocks, 32767))
        bits += "0" + std::string(14, '1');
    bits.append((8 - bits.size() % 8) % 8, '1');
    std::string data;
    for (std::size_t at = 0; at < bits.size(); at += 8) {
        data += static_cast<char>(std::stoi(bits.substr(at, 8), nullptr, 2));
        if (data.back() == '\xff') data += '\0';
    }
    for (std::size_t i = 0; i < scans; ++i) file += segment('\xda', "\1\1\0\1\x3f\0"s) + data;
    return file + "\xff\xd9";
}

}  // namespace

void make_pictures(const std::filesystem::path& f) {
    using namespace std::string_literals;
    write_file(place(f, "corpus/png/grey"), png({}, "\0\x10\x80\1\xff\x20"s));
    write_file(place(f, "corpus/png/colours"), png({.colours = 2}, "\0abcdef\2ghijkl"s));
    write_file(place(f, "corpus/png/wide"),
               png({.depth = 16, .colours = 4}, "\0abcdefgh\4ijklmnop"s));
    write_file(place(f, "corpus/png/bits"), png({.width = 9, .depth = 1}, "\0\x55\x80\0\xaa\0"s));
    write_file(place(f, "corpus/png/palette"),
               png({.depth = 4, .colours = 3}, "\0\x01\0\x10"s, "abcdef"));
    write_file(place(f, "corpus/png/interlaced"),
               png({.width = 1, .height = 1, .interlaced = 1}, "\0\x40"s));

    write_file(place(f, "corpus/jpeg/grey"), jpeg(JCS_GRAYSCALE, 1, 9, false));
    write_file(place(f, "corpus/jpeg/colours"), jpeg(JCS_RGB, 3, 17, false));
    write_file(place(f, "corpus/jpeg/inks"), jpeg(JCS_CMYK, 4, 8, false));
    const std::string progressive = jpeg(JCS_RGB, 3, 17, true);
    write_file(place(f, "corpus/jpeg/progressive"), progressive);
    write_file(place(f, "findings/jpeg/huge"), resized(jpeg(JCS_RGB, 3, 17, false), 10000));
    write_file(place(f, "findings/jpeg/huge-progressive"), resized(progressive, 10000));
    write_file(place(f, "findings/jpeg/many-scans"), many_scans(4000, 850));
}

}  // namespace pibinn::fuzz
