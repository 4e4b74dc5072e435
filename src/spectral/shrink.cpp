#include "spectral/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pibinn {

double dead_zone(const Shrink& shrink) {
    if (shrink.thresholds.empty()) return shrink.theta;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < shrink.thresholds.size(); ++j)
        if (shrink.gains[j] != 0) least = std::min(least, shrink.thresholds[j]);
    return least;
}

double deviation(const Shrink& shrink, double reach) {
    if (shrink.thresholds.empty())
        return shrink.theta < 0 ? -shrink.theta : std::min(shrink.theta, reach);
    // H(z) - z is linear between thresholds, so that it is largest at one of them or at the end.
    const auto at = [&](double z) {
        double h = 0;
        for (std::size_t j = 0; j < shrink.thresholds.size(); ++j)
            h += shrink.gains[j] * std::max(z - shrink.thresholds[j], 0.0);
        return std::abs(h - z);
    };
    double most = at(reach);
    for (const double t : shrink.thresholds)
        if (t > 0 && t < reach) most = std::max(most, at(t));
    return most;
}

double steepness(const Shrink& shrink) {
    if (shrink.thresholds.empty()) return 1;
    double gains = 0;
    for (const double gain : shrink.gains) gains += std::abs(gain);
    return gains;
}

double rounding_within(const Shrink& shrink, double unit, double reach) {
    if (shrink.thresholds.empty()) return 0;
    return unit * static_cast<double>(shrink.gains.size() + 2) * steepness(shrink) * reach;
}

bool keeps_at_zero(Activation activation, double theta, double needed) {
    return activation == Activation::hard ? theta > needed : theta >= needed;
}

}  // namespace pibinn
