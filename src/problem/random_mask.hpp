#pragma once

#include <cstdint>

#include "pibinn/structure.hpp"

namespace pibinn {

/// Each link exists with probability `density`. A column or a row that would be left without links
/// gets one at a random place: nothing can be recovered of it otherwise. Column j is drawn from the
/// stream (seed, mask, j), row i from (seed, mask, n + i).
Structure random_mask(std::size_t m, std::size_t n, double density, std::uint64_t seed);

}  // namespace pibinn
