// room: problem
#pragma once

#include <cstdint>
#include <vector>

namespace pibinn {

/// Bernoulli-Gaussian sparse signals: each entry is non-zero with probability `density` (or exactly
/// the entries of `support` are), its value N(0, 1). A signal that would be all zero gets one
/// non-zero entry at a random place, since the paper's nmse divides by its norm.
struct SparsePrior {
    double density = 0.05;
    std::vector<std::uint32_t> support = {};  ///< fixed support; empty means random
};

}  // namespace pibinn
