#include "npy_mutator.hpp"

#include <algorithm>
#include <vector>

namespace pibinn::fuzz {

namespace {

std::string assemble(char version, std::string_view text, std::string_view data) {
    std::string file = "\x93NUMPY";
    file += version;
    file += '\0';
    file += version == 1 ? bytes_of(static_cast<std::uint16_t>(text.size()))
                         : bytes_of(static_cast<std::uint32_t>(text.size()));
    return file.append(text).append(data);
}

std::string new_header(std::string& data, Dice& dice) {
    const std::string order = dice.of<const char*>({"<", ">", "=", "|", ""});
    const std::string type =
        dice.of<const char*>({"f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1",  "u2", "u4",    "u8",
                              "b1", "?",  "U3", "S8", "c8", "O",  "f1", "c16", "V4", "M8[ns]"});
    std::uint64_t bytes = type == "c16" ? 16 : static_cast<std::uint64_t>(type.back() - '0');
    std::string shape;
    for (std::size_t left = dice.below(4); left > 0; --left) {
        const std::uint64_t length = dice.size();
        bytes *= length;
        shape += std::to_string(length) + (left == 1 && dice.one_in(2) ? "" : ", ");
    }
    // Data that fit get past the check of the length.
    if (bytes <= 4096 && !dice.one_in(6)) data.resize(bytes, '\1');
    std::string text = "{'descr': '" + order + type +
                       "', 'fortran_order': " + dice.of<const char*>({"True", "False"}) +
                       ", 'shape': (" + shape + "), }";
    text.append(dice.below(20), ' ');
    return text + "\n";
}

}  // namespace

std::string mutate_npy(std::string_view bytes, std::size_t most, Dice& dice) {
    if (bytes.size() < 12 || !bytes.starts_with("\x93NUMPY")) return {};
    const char version = bytes[6];
    const std::size_t start = version == 1 ? 10 : 12;
    const std::size_t said =
        version == 1 ? number_at<std::uint16_t>(bytes, 8) : number_at<std::uint32_t>(bytes, 8);
    const std::size_t length = std::min(said, bytes.size() - start);
    std::string text(bytes.substr(start, length));
    std::string data(bytes.substr(start + length));
    switch (dice.below(3)) {
        case 0:
            text = new_header(data, dice);
            break;
        case 1:
            text = mutate_bytes(text, std::min<std::size_t>(text.size() + 64, most));
            break;
        default:
            data = mutate_bytes(data, std::max<std::size_t>(data.size(), 1));
    }
    return assemble(dice.one_in(8) ? dice.of<char>({1, 2, 3}) : version, text, data);
}

}  // namespace pibinn::fuzz
