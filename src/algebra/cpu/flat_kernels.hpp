#pragma once

#include <span>

#include "algebra/backend.hpp"

namespace pibinn::cpu {

struct AdamArgs {
    AdamStep step;
    float gradient_factor;     ///< multiplies the gradient
    float correct1, correct2;  ///< 1 / (1 - beta^step)
};

/// Adam over a flat range.
void adam(const AdamArgs& args, std::span<float> values, std::span<const float> gradient,
          std::span<float> first, std::span<float> second);
void average(float share, std::span<const float> values, std::span<float> mean);
void add(std::span<const float> part, std::span<float> total);
/// Lane sums in float32, folded into float64 every few hundred numbers.
double squared_norm(std::span<const float> values);
double dot_signs(std::span<const float> gradient, std::span<const float> latent);
/// +scale where the latent weight is at least 0, else -scale.
void to_signs(std::span<const float> latent, float scale, std::span<float> effective);

}  // namespace pibinn::cpu
