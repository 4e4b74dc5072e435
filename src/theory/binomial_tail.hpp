#pragma once

#include <cstddef>
#include <optional>

namespace pibinn {

/// P(X >= k) of X ~ Binomial(n, p), summed term by term.
double binomial_tail(std::size_t n, double p, std::size_t k);

/// Of n independent values, the rank k (from 1 on) of the one that `coverage` of all values stay at
/// or below, with this confidence: the least k with P(Binomial(n, coverage) >= k) <= 1 -
/// confidence. Wilks 1941; exact for continuous values, and on the safe side where values tie.
/// Nothing where even the largest of n values is not enough.
std::optional<std::size_t> quantile_rank(std::size_t n, double coverage, double confidence);

/// The least n that has such a rank: coverage^n <= 1 - confidence. It may be beyond any count.
double least_for_quantile(double coverage, double confidence);

}  // namespace pibinn
