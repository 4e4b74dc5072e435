#include <algorithm>
#include <cstring>

#include "mutator.hpp"

/// Stands for libFuzzer's: replaces, removes or repeats a few bytes.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
    static pibinn::fuzz::Dice dice(1);
    if (size == 0) {
        data[0] = static_cast<std::uint8_t>(dice.below(256));
        return 1;
    }
    const std::size_t at = dice.below(size);
    const std::size_t length = std::min(size - at, 1 + dice.below(8));
    switch (dice.below(4)) {
        case 0:
            if (length == size) break;
            std::memmove(data + at, data + at + length, size - at - length);
            return size - length;
        case 1:
            if (size + length > most) break;
            std::memmove(data + at + length, data + at, size - at);
            return size + length;
        default:
            break;
    }
    data[at] = static_cast<std::uint8_t>(dice.below(256));
    return size;
}
