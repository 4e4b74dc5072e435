#include "mat_mutator.hpp"

#include <algorithm>
#include <vector>

namespace pibinn::fuzz {

namespace {

constexpr std::size_t kHeader = 128;  // of the file, the same in both versions
constexpr std::uint32_t kMatrix = 14;
constexpr std::uint32_t kCompressed = 15;

struct Element {
    std::uint32_t kind = kMatrix;
    std::string body;
    bool packed = false;
};

std::vector<Element> unpack(std::string_view bytes) {
    std::vector<Element> elements;
    for (std::size_t at = kHeader; at + 8 <= bytes.size();) {
        const std::size_t length =
            std::min<std::size_t>(number_at<std::uint32_t>(bytes, at + 4), bytes.size() - at - 8);
        Element element{number_at<std::uint32_t>(bytes, at),
                        std::string(bytes.substr(at + 8, length)), false};
        at += 8 + length;
        if (element.kind == kCompressed) {
            const std::string whole = inflated(element.body);
            element = {number_at<std::uint32_t>(whole, 0),
                       whole.substr(std::min<std::size_t>(8, whole.size())), true};
        }
        elements.push_back(std::move(element));
    }
    return elements;
}

std::string tagged(std::uint32_t kind, std::string_view body) {
    return (bytes_of(kind) + bytes_of(static_cast<std::uint32_t>(body.size()))).append(body);
}

std::string pack(std::string_view header, const std::vector<Element>& elements) {
    std::string file(header);
    for (const Element& element : elements) {
        const std::string whole = tagged(element.kind, element.body);
        file += element.packed ? tagged(kCompressed, deflated(whole)) : whole;
    }
    return file;
}

/// One of the 32-bit numbers: a tag, a length, a flag, a size, an index.
void change_number(std::string& body, std::size_t width, Dice& dice) {
    if (body.size() < width) return;
    const std::size_t at = width * dice.below(std::min<std::size_t>(body.size(), 256) / width);
    body.replace(at, width, bytes_of(dice.size()).substr(0, width));
}

}  // namespace

std::string mutate_mat(std::string_view bytes, std::size_t most, Dice& dice) {
    std::vector<Element> elements = unpack(bytes);
    if (elements.empty()) return {};
    Element& some = elements[dice.below(elements.size())];
    switch (dice.below(8)) {
        case 0:
            elements.push_back(Element(some));
            break;
        case 1:
            some.packed = !some.packed;
            break;
        case 2:
            some.kind = static_cast<std::uint32_t>(dice.below(20));
            break;
        case 3:
        case 4:
            some.body = mutate_bytes(some.body, std::min<std::size_t>(some.body.size() + 64, most));
            break;
        default:
            for (std::size_t changes = 1 + dice.below(3); changes > 0; --changes)
                change_number(some.body, 4, dice);
    }
    return pack(bytes.substr(0, kHeader), elements);
}

std::string mutate_mat73(std::string_view bytes, std::size_t, Dice& dice) {
    constexpr std::size_t intact = 512 + 16;  // MATLAB's header and the signature of HDF5
    if (bytes.size() < intact + 8) return {};
    std::string file(bytes);
    for (std::size_t changes = 1 + dice.below(4); changes > 0; --changes) {
        const std::size_t width = dice.of<std::size_t>({1, 2, 4, 8});
        const std::size_t at = intact + dice.below(file.size() - intact - 8);
        if (dice.one_in(2))
            file.replace(at, width, bytes_of(dice.size()).substr(0, width));
        else
            file[at] = static_cast<char>(file[at] ^ (1 << dice.below(8)));
    }
    return file;
}

}  // namespace pibinn::fuzz
