#pragma once

#include <cmath>
#include <span>

namespace pibinn {

/// One estimate and how fast it follows what it is made from.
struct Shrunk {
    double value = 0;
    double slope = 0;
};

inline Shrunk soft_shrink(double v, double threshold) {
    if (v > threshold) return {v - threshold, 1};
    if (v < -threshold) return {v + threshold, 1};
    return {};
}

/// E[x | v] for v = x + tau N(0, 1), x zero but for a chance `density` of being N(0, variance).
class PosteriorMean {
public:
    PosteriorMean(double density, double tau_squared)
        : odds_((1 - density) / density), tau_squared_(tau_squared) {}

    Shrunk operator()(double v, double variance) const {
        const double gain = variance / (variance + tau_squared_);
        const double evidence = v * v * gain / tau_squared_;
        const double spike = odds_ * std::sqrt((variance + tau_squared_) / tau_squared_);
        const double active = 1 / (1 + spike * std::exp(-0.5 * evidence));
        return {active * gain * v, active * gain * (1 + (1 - active) * evidence)};
    }

private:
    double odds_;  ///< of a zero
    double tau_squared_;
};

}  // namespace pibinn
