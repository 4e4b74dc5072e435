#include "jpeg_mutator.hpp"

#include <algorithm>
#include <vector>

namespace pibinn::fuzz {

namespace {

/// A marker, what its length covers, and the coded data up to the next marker.
struct Segment {
    std::uint8_t marker = 0;
    std::string body;
    std::string scan;
};

bool has_length(std::uint8_t marker) { return marker != 1 && (marker < 0xd0 || marker > 0xd9); }

std::vector<Segment> unpack(std::string_view bytes) {
    std::vector<Segment> segments;
    for (std::size_t at = 2; at + 2 <= bytes.size();) {
        Segment segment{static_cast<std::uint8_t>(bytes[at + 1]), {}, {}};
        at += 2;
        if (has_length(segment.marker)) {
            const std::size_t length = std::min<std::size_t>(
                std::max<std::size_t>(number_at<std::uint16_t>(bytes, at, true), 2),
                bytes.size() - at);
            segment.body =
                bytes.substr(std::min(at + 2, bytes.size()), length < 2 ? 0 : length - 2);
            at += length;
        }
        std::size_t end = at;
        while (end + 1 < bytes.size() && (bytes[end] != '\xff' || bytes[end + 1] == '\0')) ++end;
        if (end + 1 >= bytes.size()) end = bytes.size();
        segment.scan = bytes.substr(std::min(at, bytes.size()), end - at);
        segments.push_back(std::move(segment));
        at = end;
    }
    return segments;
}

std::string pack(const std::vector<Segment>& segments) {
    std::string file = "\xff\xd8";
    for (const Segment& segment : segments) {
        file += '\xff';
        file += static_cast<char>(segment.marker);
        if (has_length(segment.marker))
            file += bytes_of(static_cast<std::uint16_t>(segment.body.size() + 2), true);
        file += segment.body + segment.scan;
    }
    return file;
}

/// The frame: height and width, or the sampling of a component.
void change_frame(Segment& frame, Dice& dice) {
    if (frame.body.size() < 6) return;
    if (dice.one_in(2))
        frame.body.replace(dice.of({1U, 3U}), 2,
                           bytes_of(static_cast<std::uint16_t>(dice.size()), true));
    else
        frame.body[5 + dice.below(frame.body.size() - 5)] = static_cast<char>(dice.below(68));
}

}  // namespace

std::string mutate_jpeg(std::string_view bytes, std::size_t most, Dice& dice) {
    std::vector<Segment> segments = unpack(bytes);
    if (segments.empty()) return {};
    Segment& some = segments[dice.below(segments.size())];
    switch (dice.below(8)) {
        case 0: {
            const Segment copy = some;
            segments.insert(segments.end() - 1, 1 + dice.below(dice.of<std::size_t>({1, 4, 200})),
                            copy);
            break;
        }
        case 1:
            segments.erase(segments.begin() +
                           static_cast<std::ptrdiff_t>(dice.below(segments.size())));
            break;
        case 2:
            some.marker = dice.of<std::uint8_t>(
                {0xc0, 0xc1, 0xc2, 0xc4, 0xc9, 0xca, 0xcc, 0xda, 0xdb, 0xdd, 0xe0, 0xee, 0xd9});
            break;
        case 3:
            some.scan = mutate_bytes(some.scan, some.scan.size() + 64);
            break;
        case 4:
        case 5:
            for (Segment& segment : segments)
                if (segment.marker >= 0xc0 && segment.marker <= 0xc2) change_frame(segment, dice);
            break;
        default:
            some.body = mutate_bytes(some.body, std::min<std::size_t>(some.body.size() + 16, most));
    }
    return pack(segments);
}

}  // namespace pibinn::fuzz
