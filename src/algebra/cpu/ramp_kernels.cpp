#include "algebra/cpu/ramp_kernels.hpp"

#include <algorithm>
#include <cmath>

namespace pibinn::cpu {

void reach_rows(const RampRows& ramp, std::size_t rows, std::size_t stride, std::uint32_t* indices,
                std::uint32_t* starts) {
    std::uint32_t count = 0;
    starts[0] = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const float least = (1 - ramp.width) * ramp.tau[i];
        const float* z = ramp.z + i * stride;
        for (std::size_t j = 0; j < stride; ++j) {
            indices[count] = static_cast<std::uint32_t>(j);
            count += std::abs(z[j]) > least ? 1 : 0;
        }
        starts[i + 1] = count;
    }
}

void ramp_gradient_rows(const RampRows& ramp, const SupportGradientArgs& a) {
    for (std::size_t i = 0; i < a.rows; ++i) {
        const float tau = ramp.tau[i];
        const float least = (1 - ramp.width) * tau;
        const float most = (1 + ramp.width) * tau;
        const float inverse = tau > 0 ? 1 / tau : 0.0F;
        const float slope = 1 / (2 * ramp.width);  // of S, by |z| / tau
        float sum = 0;
        for (std::size_t e = i * a.stride; e < (i + 1) * a.stride; ++e) {
            const float size = std::abs(ramp.z[e]);
            float h = -a.q[e];
            if (a.hz1) h += a.c1 * a.hz1[e];
            if (a.hz2) h += a.c2 * a.hz2[e];
            // With g for shrink, s = |z| / tau: x = sign(z) (|z| - g tau) S(s), hence
            // dx/dz = S + (s - g) S' and dx/dtau = -sign(z) (g S + (s - g) s S').
            const float s = size * inverse;
            const bool inside = size > least && size < most;
            const float step = inside ? (s - 1 + ramp.width) * slope : 1.0F;
            const float jump = inside ? (s - ramp.shrink) * slope : 0.0F;
            h = size > least ? h : 0.0F;
            a.hz[e] = h * (step + jump);
            sum += std::copysign(ramp.shrink * step + s * jump, ramp.z[e]) * h;
        }
        a.tau[i] = sum;
    }
}

}  // namespace pibinn::cpu
