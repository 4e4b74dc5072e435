#pragma once

#include <cstddef>

namespace pibinn::bench {

// What the accelerated update needs beside openblas_loops.hpp, under the same rules.

/// v = x1 + beta (x1 - x2)
void momentum(std::size_t count, const float* x1, const float* x2, float beta, float* v);
/// Entries of x that are not zero.
float count_alive(std::size_t count, const float* x);
/// r = p - y + omega r; returns the sum of |r|.
float residual(std::size_t count, const float* p, const float* y, float omega, float* r);
/// x = soft(delta v - q, theta)
void soft_threshold_scaled(std::size_t count, const float* v, const float* q, float delta,
                           float theta, float* x);

}  // namespace pibinn::bench
