#include "png_mutator.hpp"

#include <algorithm>

#include <zlib.h>

namespace pibinn::fuzz {

namespace {

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";

std::vector<PngChunk> unpack(std::string_view bytes) {
    std::vector<PngChunk> chunks;
    for (std::size_t at = kSignature.size(); at + 12 <= bytes.size();) {
        const std::size_t length = std::min<std::size_t>(number_at<std::uint32_t>(bytes, at, true),
                                                         bytes.size() - at - 12);
        chunks.push_back(
            {std::string(bytes.substr(at + 4, 4)), std::string(bytes.substr(at + 8, length))});
        at += 12 + length;
    }
    return chunks;
}

/// Width, height, depth, colour type or interlacing.
void change_header(std::string& data, Dice& dice) {
    if (data.size() < 13) return;
    switch (dice.below(5)) {
        case 0:
        case 1:
            data.replace(4 * dice.below(2), 4,
                         bytes_of(static_cast<std::uint32_t>(dice.size()), true));
            break;
        case 2:
            data[8] = dice.of<char>({1, 2, 4, 8, 16, 3});
            break;
        case 3:
            data[9] = dice.of<char>({0, 2, 3, 4, 6, 1});
            break;
        default:
            data[12] = dice.of<char>({0, 1, 2});
    }
}

}  // namespace

std::string pack_png(const std::vector<PngChunk>& chunks) {
    std::string file(kSignature);
    for (const PngChunk& chunk : chunks) {
        const std::string body = chunk.type + chunk.data;
        file += bytes_of(static_cast<std::uint32_t>(chunk.data.size()), true) + body;
        file += bytes_of(static_cast<std::uint32_t>(
                             crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size())),
                         true);
    }
    return file;
}

std::string mutate_png(std::string_view bytes, std::size_t most, Dice& dice) {
    std::vector<PngChunk> chunks = unpack(bytes);
    if (chunks.empty()) return {};
    const std::size_t i = dice.below(chunks.size());
    switch (dice.below(8)) {
        case 0:
            chunks.push_back(chunks[i]);
            std::swap(chunks[dice.below(chunks.size())], chunks.back());
            break;
        case 1:
            chunks.erase(chunks.begin() + static_cast<std::ptrdiff_t>(i));
            break;
        case 2:
            chunks[i].type = dice.of<const char*>({"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "gAMA",
                                                   "sBIT", "iCCP", "zTXt", "iTXt", "eXIf", "xxxx"});
            break;
        case 3:
        case 4:
            change_header(chunks.front().data, dice);
            break;
        default:
            chunks[i].data =
                chunks[i].type == "IDAT" && !dice.one_in(3)
                    ? deflated(mutate_bytes(inflated(chunks[i].data), std::size_t{1} << 16))
                    : mutate_bytes(chunks[i].data, most);
    }
    return pack_png(chunks);
}

}  // namespace pibinn::fuzz
