#pragma once

#include <cstddef>

#include "pibinn/grouping.hpp"

namespace pibinn {

/// The sites beside a site whose energy counts for it, in rings of one distance each. In one
/// dimension ring r holds the sites r before and behind. On a grid the rings are those of squared
/// distance 1, 2, 4, 5 and 8.
struct Neighbourhood {
    std::size_t rings = 0;
    std::size_t grid = 0;  ///< side of a square of sites, row by row; 0 for one dimension
    bool cyclic = false;   ///< in one dimension: the last site is beside the first

    bool operator==(const Neighbourhood&) const = default;
};

inline constexpr std::size_t kMostRings = 5;

/// What an activation looks at beside an entry itself.
struct Sites {
    Grouping grouping;
    Neighbourhood near;

    /// Entries are shrunk one by one.
    bool apart() const { return grouping.trivial() && near.rings == 0; }
};

}  // namespace pibinn
