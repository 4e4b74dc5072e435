#pragma once

#include <cstdint>
#include <optional>

#include "pibinn/structure.hpp"

namespace pibinn {

/// Each link exists with probability `density`. A column or a row that would be left without links
/// gets one at a random place: nothing can be recovered of it otherwise. Column j is drawn from the
/// stream (seed, mask, j), row i from (seed, mask, n + i).
Structure random_mask(std::size_t m, std::size_t n, double density, std::uint64_t seed);

/// Every column has `ones` links at different random rows; 8, or m where that is less, unless
/// given. Where a row would be left without any, a random column moves one of its own there. Drawn
/// from the same streams.
Structure random_columns(std::size_t m, std::size_t n, std::optional<std::size_t> ones,
                         std::uint64_t seed);

}  // namespace pibinn
