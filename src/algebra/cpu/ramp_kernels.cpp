#include "algebra/cpu/ramp_kernels.hpp"

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
    const float slope = ramp.width > 0 ? 1 / (2 * ramp.width) : 0.0F;  // of S, by |z| / tau
    for (std::size_t i = 0; i < a.rows; ++i) {
        const float tau = ramp.tau[i];
        const float least = (1 - ramp.width) * tau;
        const float most = (1 + ramp.width) * tau;
        float sum = 0;
        for (std::size_t e = i * a.stride; e < (i + 1) * a.stride; ++e) {
            const float size = std::abs(ramp.z[e]);
            float h = -a.q[e];
            if (a.hz1) h += a.c1 * a.hz1[e];
            if (a.hz2) h += a.c2 * a.hz2[e];
            // With g for softening, s = |z| / tau: x = sign(z) (|z| - g tau) S(s), hence
            // dx/dz = S + (s - g) S' and dx/dtau = -sign(z) (g S + (s - g) s S').
            float by_z = 1;
            float by_tau = ramp.softening;
            if (size > least && size < most) {
                const float s = size / tau;
                const float step = (s - 1 + ramp.width) * slope;
                const float jump = (s - ramp.softening) * slope;
                by_z = step + jump;
                by_tau = ramp.softening * step + s * jump;
            }
            h = size > least ? h : 0.0F;
            a.hz[e] = h * by_z;
            sum += (ramp.z[e] < 0 ? -by_tau : by_tau) * h;
        }
        a.tau[i] = sum;
    }
}

}  // namespace pibinn::cpu
