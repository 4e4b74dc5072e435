// room: algebra
#pragma once

#include <cstddef>

namespace pibinn {

/// Which entries of a signal share their fate: an activation shrinks the magnitude of a group, as
/// of the two parts of a complex entry. What the entries of a group have in common is their place
/// in the vector, a *site*.
struct Grouping {
    /// Consecutive repetitions of the block whose entries j belong together.
    std::size_t rows = 1;
    /// 2: entries j and j + n/2 of one repetition belong together, too.
    std::size_t halves = 1;

    std::size_t size() const { return rows * halves; }
    bool trivial() const { return size() == 1; }
    bool operator==(const Grouping&) const = default;
};

}  // namespace pibinn
