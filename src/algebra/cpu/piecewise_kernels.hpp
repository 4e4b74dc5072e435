#pragma once

#include "algebra/cpu/row_kernels.hpp"

namespace pibinn::cpu {

/// What a learned shrink passes back: `count` numbers per row, one for each piece.
struct PiecewiseGradientArgs {
    SupportGradientArgs through;  ///< its signs and tau are not looked at
    const float* z;               ///< before the activation, rows of the batch's stride
    const float* tau;             ///< of each row: what its thresholds scale with
    Pieces pieces;
    float* thresholds;  ///< out: dL / d(theta_j tau)
    float* gains;       ///< out: dL / d gain_j by x alone
    float* counts;      ///< out: entries beyond each threshold
};

/// hz = (c1 hz1 + c2 hz2 - q) dx/dz, and what thresholds and gains gain by it.
void piecewise_gradient_rows(const PiecewiseGradientArgs& args);

}  // namespace pibinn::cpu
