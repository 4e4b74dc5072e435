// room: problem
#pragma once

#include <cstdint>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/random.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// Bernoulli-Gaussian sparse signals: each entry is non-zero with probability `density` (or exactly
/// the entries of `support` are), its value N(0, 1). A signal that would be all zero gets one
/// non-zero entry at a random place, since the paper's nmse divides by its norm.
struct SparsePrior {
    double density = 0.05;
    std::vector<std::uint32_t> support = {};  ///< fixed support; empty means random
};

/// Row i is drawn from the stream (seed, purpose, first + i), whatever the number of rows or
/// threads.
Batch draw_signals(const SparsePrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool, std::uint64_t first = 0);

}  // namespace pibinn
