#pragma once

#include <cmath>

namespace pibinn {

/// One estimate and how fast it follows what it is made from.
struct Shrunk {
    double value = 0;
    double slope = 0;
};

/// The share that is kept of a group, and the divergence of that: the sum of the slopes of its
/// entries.
struct ShrunkGroup {
    double keep = 0;
    double divergence = 0;
};

inline Shrunk soft_shrink(double v, double threshold) {
    if (v > threshold) return {v - threshold, 1};
    if (v < -threshold) return {v + threshold, 1};
    return {};
}

/// The norm of a group of `size` entries towards zero: its slope is 1 along the group, and what is
/// kept in each direction across.
inline ShrunkGroup soft_shrink_group(double norm, double threshold, double size) {
    if (!(norm > threshold)) return {};
    const double keep = 1 - threshold / norm;
    return {keep, 1 + (size - 1) * keep};
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

    /// The same for `size` entries that are all zero or none, given the square of their norm.
    ShrunkGroup of_group(double energy, double variance, double size) const {
        const double gain = variance / (variance + tau_squared_);
        const double evidence = energy * gain / tau_squared_;
        const double spike = odds_ * std::pow((variance + tau_squared_) / tau_squared_, size / 2);
        const double active = 1 / (1 + spike * std::exp(-0.5 * evidence));
        return {active * gain, active * gain * (size + (1 - active) * evidence)};
    }

private:
    double odds_;  ///< of a zero
    double tau_squared_;
};

}  // namespace pibinn
