#pragma once

#include <vector>

#include "pibinn/activation.hpp"

namespace pibinn {

/// The activation of one layer as a proof sees it: what it keeps at zero, and how far it moves
/// what it does not.
struct Shrink {
    double theta = 0;                       ///< of `soft` and `hard`
    std::vector<double> thresholds, gains;  ///< of `piecewise`, otherwise empty
};

/// The least threshold: every |z| up to it becomes zero.
double dead_zone(const Shrink& shrink);

/// max |H(z) - z| over |z| <= reach.
double deviation(const Shrink& shrink, double reach);

/// How far H(z) moves at most when all thresholds move by 1: the sizes of all gains, summed.
double steepness(const Shrink& shrink);

/// What a learned shrink adds to the rounding of a layer; that of the others is counted there.
double rounding_within(const Shrink& shrink, double unit, double reach);

/// Whether entries of size up to `needed` are provably kept at zero. `hard` keeps |z| = theta,
/// the others map it to zero.
bool keeps_at_zero(Activation activation, double theta, double needed);

}  // namespace pibinn
