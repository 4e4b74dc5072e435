#pragma once

#include <cstddef>

namespace pibinn {

/// Half a unit in the last place of float32, relative.
inline constexpr double kFloat32 = 0x1p-24;

/// What the rounding of one layer is bounded by: z = delta v - W^T (A v - y) on a support of s
/// entries, with the norms of W_i and of A_S, ||v - x|| <= v, ||x|| <= B.
struct RoundedLayer {
    double unit = 0;  ///< kFloat32, or 0 for exact arithmetic
    std::size_t m = 0, s = 0;
    double column = 0;         ///< the longest W_i
    double operator_norm = 0;  ///< ||A_S||
    double absolute_norm = 0;  ///< that of |A_S|, entry by entry; at most sqrt(s) ||A_S||
    double v = 0, B = 0, noise = 0;
};

/// x_{k-1} and x_{k-2} enter v = (1 + beta) x_{k-1} - beta x_{k-2} apart and are rounded apart:
/// their sizes are this many times B more than those of v.
double extra_of_momentum(double beta);

/// How far an entry of z can be off the exact one, whatever the order of the sums: a sum of N terms
/// is off by N u times the sum of their sizes. Twice that is allowed for, and some terms more,
/// since kernels hold numbers in units of their own and rows as sums and differences of pairs.
/// Infinite where numbers may leave the range of float32.
double rounding_of(const RoundedLayer& layer);

}  // namespace pibinn
