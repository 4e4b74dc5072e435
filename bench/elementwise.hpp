#pragma once

#include <cstddef>

namespace pibinn::bench {

// The elementwise parts of the peers, fused as far as a compiler vectorises them. No templates and
// no standard library: this file is compiled for one machine (see CMakeLists.txt), and shares no
// code with others.

/// w = +-scale by the sign of the latent weight.
void signs(std::size_t count, const float* latent, float scale, float* w);
/// r = p - y
void subtract(std::size_t count, const float* p, const float* y, float* r);
/// x = soft(x_before - q, theta); x_before may be null for 0.
void soft_threshold(std::size_t count, const float* x_before, const float* q, float theta,
                    float* x);
/// g = factor (x - target); returns the sum of squares of x - target.
float loss_gradient(std::size_t count, const float* x, const float* target, float factor, float* g);
/// g = 0 where x = 0; returns -sum g sign(x), the gradient of theta.
float through_threshold(std::size_t count, const float* x, float* g);
/// total += part
void add(std::size_t count, const float* part, float* total);
/// <g, sign(latent)>
float dot_signs(std::size_t count, const float* g, const float* latent);
/// Adam with beta 0.9 and 0.999; the corrections are 1 / (1 - beta^step).
void adam(std::size_t count, float rate, float correct1, float correct2, const float* g,
          float* first, float* second, float* values);

// What the accelerated update needs beside them.

/// v = x1 + beta (x1 - x2)
void momentum(std::size_t count, const float* x1, const float* x2, float beta, float* v);
/// Entries of x that are not zero.
float count_alive(std::size_t count, const float* x);
/// r = p - y + omega r; returns the sum of |r|.
float residual(std::size_t count, const float* p, const float* y, float omega, float* r);
/// x = soft(delta v - step q, theta)
void soft_threshold_scaled(std::size_t count, const float* v, const float* q, float delta,
                           float step, float theta, float* x);
/// x = sign(z) sum_j gain_j max(|z| - theta_j tau, 0) of z = delta v - step q, and the sum of its
/// slopes. One to four pieces in one loop.
float piecewise_scaled(std::size_t count, const float* v, const float* q, float delta, float step,
                       std::size_t pieces, const float* theta, const float* gain, float tau,
                       float* x);

}  // namespace pibinn::bench
