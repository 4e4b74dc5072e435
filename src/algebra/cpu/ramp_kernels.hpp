#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algebra/cpu/row_kernels.hpp"

namespace pibinn::cpu {

/// A hard threshold is flat in tau and jumps where |z| = tau, so that neither tau nor an entry just
/// below it ever learns. Backward may take it for a ramp instead: what passes, z or with
/// `softening` nearer to zero, times S(|z| / tau), which climbs from 0 at 1 - width to 1 at 1 +
/// width. Forward stays the jump. It is the lower the more is taken off what passes, and so is the
/// ramp the narrower, down to none for a soft threshold: x then never falls where z grows.
struct RampRows {
    const float* z;    ///< before the threshold, rows of the batch's stride
    const float* tau;  ///< one threshold a row
    float width;
    float softening;  ///< the share of tau that is taken off what passes

    RampRows(const float* z_, const float* tau_, float ramp, float softening_)
        : z(z_), tau(tau_), width(ramp * (1 - softening_)), softening(softening_) {}
};

/// The entries through which a ramp passes a gradient: |z| > (1 - width) tau.
void reach_rows(const RampRows& ramp, std::size_t rows, std::size_t stride, std::uint32_t* indices,
                std::uint32_t* starts);

/// support_gradient_rows for a ramp: hz = (c1 hz1 + c2 hz2 - q) dx/dz, and in `tau` what each row's
/// threshold gains. The signs are not looked at.
void ramp_gradient_rows(const RampRows& ramp, const SupportGradientArgs& args);

}  // namespace pibinn::cpu
