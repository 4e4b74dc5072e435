// What CpuUnrolledPass does where its activation looks at groups and neighbours.

#include <algorithm>
#include <cmath>

#include "algebra/activate.hpp"
#include "algebra/cpu/cpu_buffer.hpp"
#include "algebra/cpu/unrolled_pass.hpp"

namespace pibinn::cpu {

bool CpuUnrolledPass::by_sites(const LayerSettings& settings) const {
    return !shrink_.shape().sites.apart() || rules_of(settings.activation).by_sites;
}

void CpuUnrolledPass::share_mean(Layer& layer) {
    const std::size_t rows = group_rows();
    if (rows == 1) return;
    for (std::size_t i = 0; i < rows_; i += rows) {
        float sum = 0;
        for (std::size_t e = 0; e < rows; ++e) sum += layer.mean_abs[i + e];
        std::fill_n(layer.mean_abs.begin() + i, rows, sum / static_cast<float>(rows));
    }
}

void CpuUnrolledPass::list_entries(std::size_t group, std::span<const std::uint32_t> sites,
                                   std::vector<std::uint32_t>& indices,
                                   std::vector<std::uint32_t>& starts) {
    const SiteShape& shape = shrink_.shape();
    const std::size_t first = group * group_rows();
    std::uint32_t at = starts[first];
    for (std::size_t row = first; row < first + group_rows(); ++row) {
        for (std::size_t half = 0; half < shape.sites.grouping.halves; ++half)
            for (const std::uint32_t site : sites)
                indices[at++] = static_cast<std::uint32_t>(half * shape.count) + site;
        starts[row + 1] = at;
    }
}

void CpuUnrolledPass::forward_sites(std::size_t k, const LayerScalars& s) {
    Layer& now = at(k);
    const std::size_t stride = products_.n_stride();
    if (s.residual_threshold) share_mean(now);
    for (std::size_t i = 0; i < rows_; ++i) tau_[i] = s.residual_threshold ? now.mean_abs[i] : 1.0F;
    now.tau = tau_;
    const bool earlier = k >= 3 && s.beta != 0;
    shrink_input(rows_ * stride, s.delta * (1 + s.beta), k == 1 ? nullptr : x_rows(k - 1),
                 -s.delta * s.beta, earlier ? x_rows(k - 2) : nullptr, s.step, q_.data(),
                 now.z.data());
    const std::size_t rows = group_rows();
    now.starts[0] = now.reach_starts[0] = 0;
    for (std::size_t i = 0; i < rows_; i += rows) {
        const float slopes =
            shrink_.forward(s.sites, tau_[i], now.z.data() + i * stride, x_rows(k) + i * stride);
        std::fill_n(now.slopes.begin() + i, rows, slopes / static_cast<float>(rows));
        list_entries(i / rows, shrink_.alive(), now.indices, now.starts);
        list_entries(i / rows, shrink_.reach(), now.reach_indices, now.reach_starts);
    }
}

void CpuUnrolledPass::gradient_of_sites(std::size_t k, const LayerScalars& s,
                                        const SupportGradientArgs& args,
                                        const LayerGradients& gradients) {
    const Layer& now = tape_[k];
    const std::size_t stride = args.stride;
    const std::size_t rows = group_rows();
    const auto measurements = static_cast<float>(rows * products_.m());
    const float carried = k < layers_ ? tape_[k + 1].omega / measurements : 0.0F;
    if (args.q != args.hz)
        for (std::size_t e = 0; e < rows_ * stride; ++e) {
            float h = -args.q[e];
            if (args.hz1) h += args.c1 * args.hz1[e];
            if (args.hz2) h += args.c2 * args.hz2[e];
            args.hz[e] = h;
        }
    else
        for (std::size_t e = 0; e < rows_ * stride; ++e) args.hz[e] = -args.hz[e];
    sums_.clear(s.sites);
    for (std::size_t i = 0; i < rows_; i += rows) {
        float by_slope = 0;
        for (std::size_t e = 0; e < rows && carried != 0; ++e) by_slope += carried * omega_[i + e];
        const double by_tau = shrink_.backward(s.sites, now.tau[i], now.z.data() + i * stride,
                                               by_slope, args.hz + i * stride, sums_);
        std::fill_n(from_mean_.begin() + i, rows, static_cast<float>(by_tau / measurements));
    }
    const auto add = [](BufferView to, std::span<const double> sums) {
        for (std::size_t p = 0; p < sums.size() && p < to.count; ++p)
            add_to_number(to.part(p, 1), sums[p]);
    };
    if (s.activation == Activation::wiener)
        add_to_number(gradients.theta, sums_.theta);
    else
        add(gradients.theta, sums_.thresholds);
    add(gradients.gain, sums_.gains);
    add(gradients.local, sums_.local);
    add(gradients.prior, sums_.prior);
}

}  // namespace pibinn::cpu
