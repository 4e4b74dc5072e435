#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "pibinn/structure.hpp"

namespace pibinn {

/// Makes the right half of a complex block from its left half, which is what is stored. Other
/// structures stay as they are.
template <class T>
void complete_complex(const Structure& s, std::span<T> values) {
    for_each_pair(s, [&](std::size_t first, std::size_t second, float sign) {
        values[second] = sign > 0 ? values[first] : T{0} - values[first];  // no negative zeros
    });
}

/// The first link of the left half whose twin is another number; nothing where all fit.
template <class T>
std::optional<std::size_t> unpaired_link(const Structure& s, std::span<const T> values) {
    std::optional<std::size_t> found;
    for_each_pair(s, [&](std::size_t first, std::size_t second, float sign) {
        if (!found && values[second] != static_cast<T>(sign) * values[first]) found = first;
    });
    return found;
}

}  // namespace pibinn
