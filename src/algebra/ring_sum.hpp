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

/// Calls visit(to, from, count) for runs of sites: over ring r of site to + j stands site from + j,
/// for all j < count. Every neighbour of every site comes once. A ring is the same seen from either
/// side.
template <class Visit>
void for_each_ring_run(const Neighbourhood& near, std::size_t ring, std::size_t sites,
                       Visit&& visit) {
    if (near.grid > 0) {
        const auto side = static_cast<std::ptrdiff_t>(near.grid);
        for (const auto& [down, right] : grid_ring(ring))
            for (std::ptrdiff_t row = 0; row + down < side; ++row) {
                const std::ptrdiff_t first = right < 0 ? -right : 0;
                const std::ptrdiff_t last = right > 0 ? side - right : side;
                const std::ptrdiff_t here = row * side + first;
                const std::ptrdiff_t there = here + down * side + right;
                if (last <= first) continue;
                const auto count = static_cast<std::size_t>(last - first);
                visit(static_cast<std::size_t>(here), static_cast<std::size_t>(there), count);
                visit(static_cast<std::size_t>(there), static_cast<std::size_t>(here), count);
            }
        return;
    }
    // A ring that is longer than the vector meets itself.
    const std::size_t r = near.cyclic ? ring % sites : ring;
    if (r < sites) {
        visit(std::size_t{0}, r, sites - r);
        visit(r, std::size_t{0}, sites - r);
    }
    if (!near.cyclic) return;
    visit(sites - r, std::size_t{0}, r);
    visit(std::size_t{0}, sites - r, r);
}

/// to[i] += factor times the sum of `from` over ring r of site i. This is its own adjoint.
template <class T>
void add_ring_sum(const Neighbourhood& near, std::size_t ring, std::size_t sites, T factor,
                  const T* from, T* to) {
    for_each_ring_run(near, ring, sites,
                      [&](std::size_t here, std::size_t there, std::size_t count) {
                          for (std::size_t j = 0; j < count; ++j)
                              to[here + j] += factor * from[there + j];
                      });
}

}  // namespace pibinn
