#include "algebra/cpu/unrolled_pass.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "algebra/activate.hpp"
#include "algebra/centre.hpp"
#include "algebra/cpu/cpu_buffer.hpp"
#include "algebra/cpu/piecewise_kernels.hpp"
#include "algebra/cpu/ramp_kernels.hpp"
#include "algebra/cpu/row_loss.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cpu {

namespace {

bool learns_theta(const LayerSettings& s) {
    switch (rules_of(s.activation).learning) {
        case ThresholdLearning::none:
            return false;
        case ThresholdLearning::always:
            return true;
        case ThresholdLearning::by_ramp:
            return s.ramp > 0;
    }
    return false;
}

/// Layers that forward looks at: its own and the two before.
constexpr std::size_t kKept = 3;

/// A threshold that follows the residual. Where that overflowed, everything is above it, so that
/// what comes out tells.
float residual_threshold(Activation activation, float tau) {
    if (std::isfinite(tau) || !rules_of(activation).hides_bad_threshold) return tau;
    return -std::numeric_limits<float>::infinity();
}

}  // namespace

CpuUnrolledPass::CpuUnrolledPass(const Block& block, std::span<const float> operator_values,
                                 std::size_t layers, std::size_t max_rows, const Sites& sites,
                                 PassUse use)
    : products_(block),
      shrink_(sites, products_.n(), products_.n_stride()),
      layers_(layers),
      a_(products_.size()),
      a_by_row_(products_.size()),
      y_(max_rows * products_.m_stride()),
      q_(max_rows * products_.n_stride()),
      tau_(max_rows),
      dtau_(max_rows),
      omega_(max_rows),
      step_(max_rows),
      from_mean_(max_rows),
      tape_(use == PassUse::recovery ? std::min(layers + 1, kKept) : layers + 1),
      gp_(max_rows * products_.m_stride()) {
    products_.lay_out(operator_values, a_);
    products_.lay_out_rows(operator_values, a_by_row_);
    for (Layer& layer : tape_) {
        layer.r.resize(max_rows * products_.m_stride());
        layer.mean_abs.resize(max_rows);
        layer.slopes.resize(max_rows);
        layer.indices.resize(max_rows * products_.n_stride() + kPad);
        layer.starts.resize(max_rows + 1);
        layer.signs.resize(max_rows * sign_bytes(products_.n_stride()) + 8);
    }
}

void CpuUnrolledPass::remember(bool momentum) {
    const auto make = [&](Rows& x, Rows& p) {
        x.resize(tau_.size() * products_.n_stride());
        p.resize(tau_.size() * products_.m_stride());
    };
    momentum_ = momentum;
    if (momentum) {
        for (Layer& layer : tape_) make(layer.x, layer.p);
    } else {
        // A tape of them would push the rest out of the cache.
        for (Rows& x : x_) make(x, p_);
    }
}

Supports CpuUnrolledPass::supports(const Layer& layer) const {
    return {layer.indices.data(), layer.starts.data()};
}

Supports CpuUnrolledPass::reach(const Layer& layer) const {
    if (layer.ramp == 0 && !layer.by_sites) return supports(layer);
    return {layer.reach_indices.data(), layer.reach_starts.data()};
}

void CpuUnrolledPass::remember_ramp(Layer& layer) {
    layer.reach_indices.resize(tau_.size() * products_.n_stride() + 1);
    layer.reach_starts.resize(tau_.size() + 1);
}

void CpuUnrolledPass::start(ConstBatchView y) {
    ensure(y.cols == products_.m() && y.rows <= tau_.size(),
           "a pass was given a batch it was not made for");
    rows_ = y.rows;
    for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(y.row(i).begin(), y.cols, y_.begin() + i * products_.m_stride());
}

void CpuUnrolledPass::centre_rows(float* rows) const {
    for (std::size_t i = 0; i < rows_; ++i)
        centre({rows + i * products_.m_stride(), products_.m()});
}

void CpuUnrolledPass::residual(std::size_t k, const LayerScalars& s) {
    Layer& now = at(k);
    const Layer& before = at(k - 1);
    const bool first = k == 1;
    if (first && s.centre) centre_rows(y_.data());
    if (!first && s.beta == 0 && s.omega == 0 && !s.momentum && !s.residual_threshold) {
        products_.gather(rows_, x_rows(k - 1), supports(before), a_.data(), y_.data(),
                         now.r.data());
        if (s.centre) centre_rows(now.r.data());
        return;
    }
    if (!first) {
        products_.gather(rows_, x_rows(k - 1), supports(before), a_.data(), nullptr, p_rows(k - 1));
        if (s.centre) centre_rows(p_rows(k - 1));
    }
    residual_rows({.rows = rows_,
                   .m = products_.m(),
                   .stride = products_.m_stride(),
                   .p1 = first ? nullptr : p_rows(k - 1),
                   .p2 = k >= 3 && s.beta != 0 ? p_rows(k - 2) : nullptr,
                   .y = y_.data(),
                   .previous = first || s.omega == 0 ? nullptr : before.r.data(),
                   .slopes = before.slopes.data(),
                   .beta = s.beta,
                   .omega = s.omega,
                   .r = now.r.data(),
                   .mean_abs = now.mean_abs.data()});
}

void CpuUnrolledPass::forward(std::size_t k, const LayerSettings& settings,
                              const LayerParameters& layer) {
    LayerScalars s(settings, layer);
    s.by_sites = by_sites(settings);
    Layer& now = at(k);
    const bool earlier = k >= 3 && s.beta != 0;  // x_0 = 0 adds nothing
    now.beta = s.beta;
    now.omega = s.omega;
    now.ramp = rules_of(s.activation).learning == ThresholdLearning::by_ramp ? s.ramp : 0.0F;
    now.softening = s.softening;
    now.by_sites = s.by_sites;
    if (now.ramp > 0 || s.by_sites) remember_ramp(now);
    const bool keeps_z = now.ramp > 0 || s.pieces.count > 0 || s.by_sites;
    if (keeps_z) now.z.resize(tau_.size() * products_.n_stride());
    const bool first = k == 1;
    if (first) remember(s.momentum);
    residual(k, s);
    if (!s.tied) {
        w_by_row_.resize(products_.size());
        products_.lay_out_rows(numbers(layer.weights), w_by_row_);
    }
    products_.all_dots(rows_, now.r.data(), s.tied ? a_by_row_.data() : w_by_row_.data(),
                       q_.data());
    if (s.by_sites) {
        forward_sites(k, s);
        return;
    }
    const float theta = s.pieces.count > 0 ? 1.0F : s.theta;
    for (std::size_t i = 0; i < rows_; ++i)
        tau_[i] = s.residual_threshold ? residual_threshold(s.activation, theta * now.mean_abs[i])
                                       : theta;
    threshold_rows({.rows = rows_,
                    .n = products_.n(),
                    .stride = products_.n_stride(),
                    .activation = s.activation,
                    .delta = s.delta,
                    .beta = s.beta,
                    .x1 = first ? nullptr : x_rows(k - 1),
                    .x2 = earlier ? x_rows(k - 2) : nullptr,
                    .q = q_.data(),
                    .step = s.step,
                    .tau = tau_.data(),
                    .pieces = s.pieces,
                    .x = x_rows(k),
                    .slopes = now.slopes.data(),
                    .indices = now.indices.data(),
                    .starts = now.starts.data(),
                    .signs = now.signs.data(),
                    .softening = s.softening,
                    .z = keeps_z ? now.z.data() : nullptr});
    if (keeps_z) now.tau = tau_;
    if (now.ramp > 0) {
        reach_rows({now.z.data(), now.tau.data(), now.ramp, s.softening}, rows_,
                   products_.n_stride(), now.reach_indices.data(), now.reach_starts.data());
    }
}

ConstBatchView CpuUnrolledPass::x(std::size_t k) const {
    const Rows& rows = momentum_ ? at(k).x : x_[k % 2];
    return {rows.data(), rows_, products_.n(), products_.n_stride()};
}

void CpuUnrolledPass::read_x(std::size_t k, BatchView to) const {
    const ConstBatchView from = x(k);
    for (std::size_t i = 0; i < from.rows; ++i)
        std::copy_n(from.row(i).begin(), from.cols, to.row(i).begin());
}

double CpuUnrolledPass::loss(RowLoss kind, ConstBatchView target,
                             std::span<const float> row_weights) {
    for (auto& rows : hz_) rows.resize(tau_.size() * products_.n_stride());
    for (auto& rows : gr_) rows.resize(tau_.size() * products_.m_stride());
    return row_loss(kind, x(layers_), target, row_weights, group_rows(),
                    {hz_[layers_ % 3].data(), rows_, products_.n(), products_.n_stride()});
}

void CpuUnrolledPass::gradient_of_x(std::size_t k, const LayerScalars& s,
                                    const LayerGradients& gradients) {
    const float delta = s.delta;
    const Layer& now = tape_[k];
    for (auto* numbers : {&by_threshold_, &by_gain_, &counts_})
        numbers->resize(tau_.size() * s.pieces.count);
    float* hz = hz_[k % 3].data();
    const std::size_t stride = products_.n_stride();
    const auto through_threshold = [&](const SupportGradientArgs& args) {
        if (s.by_sites)
            gradient_of_sites(k, s, args, gradients);
        else if (s.pieces.count > 0)
            piecewise_gradient_rows({.through = args,
                                     .z = now.z.data(),
                                     .tau = now.tau.data(),
                                     .pieces = s.pieces,
                                     .thresholds = by_threshold_.data(),
                                     .gains = by_gain_.data(),
                                     .counts = counts_.data()});
        else if (now.ramp > 0)
            ramp_gradient_rows({now.z.data(), now.tau.data(), now.ramp, now.softening}, args);
        else
            support_gradient_rows(args);
    };
    if (k == layers_) {
        // At the top the loss has filled every entry; off the reach the threshold stops it.
        through_threshold({.rows = rows_,
                           .stride = stride,
                           .signs = now.signs.data(),
                           .q = hz,
                           .c1 = 0,
                           .c2 = 0,
                           .hz1 = nullptr,
                           .hz2 = nullptr,
                           .hz = hz,
                           .tau = dtau_.data()});
        return;
    }
    // p_k enters r_{k+1} by 1 + beta_{k+1} and r_{k+2} by -beta_{k+2}; x_k enters z likewise.
    const bool two = k + 2 <= layers_ && tape_[k + 2].beta != 0;
    const float to_next = 1 + tape_[k + 1].beta;
    const float to_second = two ? -tape_[k + 2].beta : 0.0F;
    const float* gp = gr_[(k + 1) % 3].data();
    if (to_next != 1 || two || s.centre) {
        combine_rows(rows_ * products_.m_stride(), to_next, gp, to_second,
                     two ? gr_[(k + 2) % 3].data() : nullptr, gp_.data());
        gp = gp_.data();
        if (s.centre) centre_rows(gp_.data());
    }
    products_.support_dots(rows_, gp, reach(now), a_.data(), a_by_row_.data(), q_.data());
    through_threshold({.rows = rows_,
                       .stride = stride,
                       .signs = now.signs.data(),
                       .q = q_.data(),
                       .c1 = delta * to_next,
                       .c2 = delta * to_second,
                       .hz1 = hz_[(k + 1) % 3].data(),
                       .hz2 = two ? hz_[(k + 2) % 3].data() : nullptr,
                       .hz = hz,
                       .tau = dtau_.data()});
}

void CpuUnrolledPass::gradient_of_theta(std::size_t k, const LayerScalars& s, BufferView theta) {
    if (!learns_theta(s)) return;
    double dtheta = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
        dtheta += s.residual_threshold ? double{dtau_[i]} * tape_[k].mean_abs[i] : double{dtau_[i]};
        from_mean_[i] = dtau_[i] * s.theta / static_cast<float>(products_.m());
    }
    add_to_number(theta, dtheta);
}

void CpuUnrolledPass::gradient_of_pieces(std::size_t k, const LayerScalars& s, BufferView theta,
                                         BufferView gain) {
    const std::size_t count = s.pieces.count;
    const auto m = static_cast<float>(products_.m());
    // The slope, which scales the Onsager term of the next layer, is a sum of gains.
    const float carried = k < layers_ ? tape_[k + 1].omega / m : 0.0F;
    std::fill_n(from_mean_.begin(), rows_, 0.0F);
    for (std::size_t p = 0; p < count; ++p) {
        double dtheta = 0, dgain = 0;
        for (std::size_t i = 0; i < rows_; ++i) {
            const std::size_t at = i * count + p;
            dtheta += double{by_threshold_[at]} * tape_[k].tau[i];
            dgain += by_gain_[at];
            if (carried != 0) dgain += double{carried} * omega_[i] * counts_[at];
            from_mean_[i] += by_threshold_[at] * s.pieces.thresholds[p] / m;
        }
        add_to_number(theta.part(p, 1), dtheta);
        add_to_number(gain.part(p, 1), dgain);
    }
}

void CpuUnrolledPass::gradient_of_weights(std::size_t k, const LayerScalars& s, BufferView weights,
                                          Into into) {
    const float* r = tape_[k].r.data();
    if (s.step != 1) {
        scaled_r_.resize(tau_.size() * products_.m_stride());
        combine_rows(rows_ * products_.m_stride(), s.step, r, 0, nullptr, scaled_r_.data());
        r = scaled_r_.data();
    }
    products_.outer(rows_, hz_[k % 3].data(), reach(tape_[k]), r, numbers(weights), into);
}

void CpuUnrolledPass::backward(std::size_t k, const LayerSettings& settings,
                               const LayerParameters& layer, const LayerGradients& gradients,
                               Into into) {
    LayerScalars s(settings, layer);
    s.by_sites = by_sites(settings);
    const Layer& now = tape_[k];
    const Layer& before = tape_[k - 1];
    const Supports support = reach(now);
    float* gr = gr_[k % 3].data();
    const float* hz = hz_[k % 3].data();

    gradient_of_x(k, s, gradients);
    if (s.by_sites) {
        // Done with the gradient of x.
    } else if (s.pieces.count > 0)
        gradient_of_pieces(k, s, gradients.theta, gradients.gain);
    else
        gradient_of_theta(k, s, gradients.theta);

    const bool with_beta = s.momentum && k > 1;
    const bool with_omega = s.onsager && k > 1;
    const bool with_step = !layer.step.empty();
    if (k > 1 || with_step) {  // nothing else asks for dL/dr_1
        if (!s.tied) {
            w_.resize(products_.size());
            products_.lay_out(numbers(layer.weights), w_);
        }
        products_.gather(rows_, hz, support, s.tied ? a_.data() : w_.data(), nullptr, gr);
        const bool carried = k < layers_ && tape_[k + 1].omega != 0;
        const bool with_mean = s.residual_threshold && learns_theta(s);
        if (carried || with_mean || with_beta || with_omega || with_step)
            residual_gradient_rows({.rows = rows_,
                                    .m = products_.m(),
                                    .stride = products_.m_stride(),
                                    .g = gr,
                                    .step = s.step,
                                    .step_sum = with_step ? step_.data() : nullptr,
                                    .next = carried ? gr_[(k + 1) % 3].data() : nullptr,
                                    .slopes = now.slopes.data(),
                                    .omega_next = carried ? tape_[k + 1].omega : 0.0F,
                                    .r = now.r.data(),
                                    .from_mean = with_mean ? from_mean_.data() : nullptr,
                                    .p1 = with_beta ? before.p.data() : nullptr,
                                    .p2 = with_beta && k > 2 ? tape_[k - 2].p.data() : nullptr,
                                    .r_before = with_omega ? before.r.data() : nullptr,
                                    .beta = tau_.data(),
                                    .omega = omega_.data()});
    }
    if (with_step) {
        double dstep = 0;
        for (std::size_t i = 0; i < rows_; ++i) dstep += step_[i];
        add_to_number(gradients.step, dstep);
    }
    if (!s.tied) gradient_of_weights(k, s, gradients.weights, into);

    double dbeta = 0;
    for (std::size_t i = 0; i < rows_ && with_beta; ++i) {
        float through_x = 0;
        for (std::size_t e = support.starts[i]; e < support.starts[i + 1]; ++e) {
            const std::size_t at = i * products_.n_stride() + support.indices[e];
            through_x -= hz[at] * (k > 2 ? before.x[at] - tape_[k - 2].x[at] : before.x[at]);
        }
        dbeta += tau_[i] + s.delta * through_x;
    }
    add_to_number(gradients.beta, dbeta);
    double domega = 0;
    for (std::size_t i = 0; i < rows_ && with_omega; ++i)
        domega += omega_[i] * before.slopes[i] / static_cast<float>(products_.m());
    add_to_number(gradients.omega, domega);
}

}  // namespace pibinn::cpu
