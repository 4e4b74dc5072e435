#pragma once

#include "pibinn/problem.hpp"

namespace pibinn {

/// Draws and measures the sets of a problem that has its operator, prior and noise. Entries are of
/// size 1 and columns of norm 1.
void draw_sets(Problem& problem, std::size_t train, std::size_t test, std::uint64_t seed,
               ThreadPool& pool);

}  // namespace pibinn
