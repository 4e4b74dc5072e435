#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "algebra/sites.hpp"

namespace pibinn {

/// The steps (down, right) of ring r = 1.. of a grid, one of each pair that are opposite.
inline std::span<const std::pair<int, int>> grid_ring(std::size_t ring) {
    using Steps = std::array<std::pair<int, int>, 4>;
    static constexpr std::array<Steps, kMostRings> steps{{{{{0, 1}, {1, 0}}},
                                                          {{{1, 1}, {1, -1}}},
                                                          {{{0, 2}, {2, 0}}},
                                                          {{{1, 2}, {1, -2}, {2, 1}, {2, -1}}},
                                                          {{{2, 2}, {2, -2}}}}};
    return std::span(steps[ring - 1]).first(ring == 4 ? 4 : 2);
}

/// Sites of ring r = 1.. around a site in the middle.
inline std::size_t ring_size(const Neighbourhood& near, std::size_t ring) {
    return near.grid > 0 ? 2 * grid_ring(ring).size() : 2;
}

/// to[i] += factor times the sum of `from` over ring r of site i. A ring is the same seen from
/// either side, so that this is its own adjoint.
template <class T>
void add_ring_sum(const Neighbourhood& near, std::size_t ring, std::size_t sites, T factor,
                  const T* from, T* to) {
    if (near.grid > 0) {
        const auto side = static_cast<std::ptrdiff_t>(near.grid);
        for (const auto& [down, right] : grid_ring(ring))
            for (std::ptrdiff_t row = 0; row + down < side; ++row) {
                const std::ptrdiff_t first = right < 0 ? -right : 0;
                const std::ptrdiff_t last = right > 0 ? side - right : side;
                const std::ptrdiff_t here = row * side, there = (row + down) * side + right;
                for (std::ptrdiff_t j = first; j < last; ++j)
                    to[here + j] += factor * from[there + j];
                for (std::ptrdiff_t j = first; j < last; ++j)
                    to[there + j] += factor * from[here + j];
            }
        return;
    }
    // A ring that is longer than the vector meets itself.
    const std::size_t r = near.cyclic ? ring % sites : ring;
    for (std::size_t i = 0; i + r < sites; ++i) to[i] += factor * from[i + r];
    for (std::size_t i = 0; i + r < sites; ++i) to[i + r] += factor * from[i];
    if (!near.cyclic) return;
    for (std::size_t i = sites - r; i < sites; ++i) {
        to[i] += factor * from[i + r - sites];
        to[i + r - sites] += factor * from[i];
    }
}

}  // namespace pibinn
