#include "algebra/cpu/unrolled_pass.hpp"

#include <algorithm>
#include <cmath>

#include "algebra/cpu/row_loss.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cpu {

CpuUnrolledPass::CpuUnrolledPass(const LinkBlock& block, std::span<const float> operator_values,
                                 std::size_t layers, std::size_t max_rows)
    : products_(block),
      layers_(layers),
      a_(products_.size()),
      w_(products_.size()),
      dw_(products_.size()),
      y_(max_rows * products_.m_stride()),
      q_(max_rows * products_.n_stride()),
      tau_(max_rows),
      tape_(layers + 1),
      gp_(max_rows * products_.m_stride()) {
    products_.lay_out(operator_values, a_);
    for (Layer& layer : tape_) {
        layer.x.resize(max_rows * products_.n_stride());
        layer.p.resize(max_rows * products_.m_stride());
        layer.r.resize(max_rows * products_.m_stride());
        layer.mean_abs.resize(max_rows);
        layer.indices.resize(max_rows * (products_.n_stride() + kPad));
        layer.counts.resize(max_rows);
    }
}

Supports CpuUnrolledPass::supports(const Layer& layer) const {
    return {layer.indices.data(), layer.counts.data(), products_.n_stride() + kPad};
}

void CpuUnrolledPass::start(ConstBatchView y) {
    ensure(y.cols == products_.m() && y.rows <= tau_.size(),
           "a pass was given a batch it was not made for");
    rows_ = y.rows;
    for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(y.row(i).begin(), y.cols, y_.begin() + i * products_.m_stride());
}

void CpuUnrolledPass::forward(std::size_t k, const LayerScalars& s, std::span<const float> w) {
    Layer& now = tape_[k];
    const Layer& before = tape_[k - 1];
    const Layer* earlier = k >= 3 && s.beta != 0 ? &tape_[k - 2] : nullptr;  // x_0 = 0 adds nothing
    now.beta = s.beta;
    now.omega = s.omega;
    const bool first = k == 1;
    residual_rows({rows_, products_.m(), products_.m_stride(), first ? nullptr : before.p.data(),
                   earlier ? earlier->p.data() : nullptr, y_.data(),
                   first || s.omega == 0 ? nullptr : before.r.data(), before.counts.data(), s.beta,
                   s.omega, now.r.data(), now.mean_abs.data()});
    products_.lay_out(w, w_);
    products_.all_dots(rows_, now.r.data(), w_.data(), q_.data());
    for (std::size_t i = 0; i < rows_; ++i)
        tau_[i] = s.residual_threshold ? s.theta * now.mean_abs[i] : s.theta;
    threshold_rows({rows_, products_.n(), products_.n_stride(), s.activation, s.delta, s.beta,
                    first ? nullptr : before.x.data(), earlier ? earlier->x.data() : nullptr,
                    q_.data(), tau_.data(), now.x.data(), now.indices.data(), now.counts.data()});
    if (k < layers_) products_.gather(rows_, now.x.data(), supports(now), a_.data(), now.p.data());
}

ConstBatchView CpuUnrolledPass::x(std::size_t k) const {
    return {tape_[k].x.data(), rows_, products_.n(), products_.n_stride()};
}

double CpuUnrolledPass::loss(RowLoss kind, ConstBatchView target,
                             std::span<const float> row_weights) {
    for (auto& rows : gz_) rows.resize(tau_.size() * products_.n_stride());
    for (auto& rows : gr_) rows.resize(tau_.size() * products_.m_stride());
    return row_loss(kind, x(layers_), target, row_weights,
                    {gz_[layers_ % 3].data(), rows_, products_.n(), products_.n_stride()});
}

void CpuUnrolledPass::gradient_of_x(std::size_t k, float delta) {
    Rows& gz = gz_[k % 3];
    const std::size_t stride = products_.n_stride();
    const Supports s = supports(tape_[k]);
    if (k < layers_) {
        // p_k enters r_{k+1} by 1 + beta_{k+1} and r_{k+2} by -beta_{k+2}; x_k enters z likewise.
        const bool two = k + 2 <= layers_ && tape_[k + 2].beta != 0;
        const float grow = 1 + tape_[k + 1].beta;
        const float shrink = two ? -tape_[k + 2].beta : 0.0F;
        const float* gr1 = gr_[(k + 1) % 3].data();
        const float* gr2 = gr_[(k + 2) % 3].data();
        const std::size_t count = rows_ * products_.m_stride();
        if (two) {
            for (std::size_t e = 0; e < count; ++e) gp_[e] = grow * gr1[e] + shrink * gr2[e];
        } else {
            for (std::size_t e = 0; e < count; ++e) gp_[e] = grow * gr1[e];
        }
        products_.support_dots(rows_, gp_.data(), s, a_.data(), q_.data());
        const float* gz1 = gz_[(k + 1) % 3].data();
        const float* gz2 = gz_[(k + 2) % 3].data();
        std::fill_n(gz.begin(), rows_ * stride, 0.0F);
        for (std::size_t i = 0; i < rows_; ++i)
            for (std::size_t e = 0; e < s.counts[i]; ++e) {
                const std::size_t at = i * stride + s.indices[i * s.stride + e];
                gz[at] = q_[at] + delta * grow * gz1[at] + (two ? delta * shrink * gz2[at] : 0.0F);
            }
        return;
    }
    // At the top the loss has filled every entry; off the support the threshold stops it.
    const float* x = tape_[k].x.data();
    for (std::size_t e = 0; e < rows_ * stride; ++e)
        if (x[e] == 0.0F) gz[e] = 0.0F;
}

double CpuUnrolledPass::gradient_of_r(std::size_t k, const LayerScalars& s,
                                      std::span<const float> w) {
    const Layer& now = tape_[k];
    const Supports support = supports(now);
    const float* gz = gz_[k % 3].data();
    float* gr = gr_[k % 3].data();
    products_.lay_out(w, w_);
    products_.gather(rows_, gz, support, w_.data(), gr);

    const bool carried = k < layers_ && tape_[k + 1].omega != 0;
    const float* gr_next = gr_[(k + 1) % 3].data();
    const std::size_t m = products_.m();
    double dtheta = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
        double dtau = 0;
        if (s.activation == Activation::soft)
            for (std::size_t e = 0; e < support.counts[i]; ++e) {
                const std::size_t at =
                    i * products_.n_stride() + support.indices[i * support.stride + e];
                dtau -= now.x[at] > 0 ? gz[at] : -gz[at];
            }
        dtheta += s.residual_threshold ? dtau * now.mean_abs[i] : dtau;
        const float from_mean = s.residual_threshold
                                    ? static_cast<float>(dtau * s.theta / static_cast<double>(m))
                                    : 0.0F;
        const float from_next =
            carried ? tape_[k + 1].omega * static_cast<float>(now.counts[i]) / static_cast<float>(m)
                    : 0.0F;
        float* out = gr + i * products_.m_stride();
        const float* r = &now.r[i * products_.m_stride()];
        const float* next = gr_next + i * products_.m_stride();
        for (std::size_t j = 0; j < m; ++j)
            out[j] = (carried ? from_next * next[j] : 0.0F) - out[j] +
                     (r[j] > 0 ? from_mean : (r[j] < 0 ? -from_mean : 0.0F));
    }
    return dtheta;
}

LayerScalarGradients CpuUnrolledPass::backward(std::size_t k, const LayerScalars& s,
                                               std::span<const float> w, std::span<float> dw) {
    gradient_of_x(k, s.delta);
    LayerScalarGradients gradients;
    gradients.theta = gradient_of_r(k, s, w);

    const Layer& now = tape_[k];
    std::fill(dw_.begin(), dw_.end(), 0.0F);
    products_.outer(rows_, gz_[k % 3].data(), supports(now), now.r.data(), dw_.data());
    products_.add_back(dw_, dw);
    if (k == 1) return gradients;

    const Layer& before = tape_[k - 1];
    const float* gr = gr_[k % 3].data();
    const float* gz = gz_[k % 3].data();
    const Supports support = supports(now);
    const bool has_earlier = k >= 3;
    const Layer& earlier = tape_[k - 2];
    for (std::size_t i = 0; i < rows_; ++i) {
        const std::size_t at = i * products_.m_stride();
        float beta = 0;
        float omega = 0;
        for (std::size_t j = at; j < at + products_.m(); ++j) {
            beta += gr[j] * (has_earlier ? before.p[j] - earlier.p[j] : before.p[j]);
            omega += gr[j] * before.r[j];
        }
        float beta_z = 0;
        for (std::size_t e = 0; e < support.counts[i]; ++e) {
            const std::size_t j =
                i * products_.n_stride() + support.indices[i * support.stride + e];
            beta_z += gz[j] * (has_earlier ? before.x[j] - earlier.x[j] : before.x[j]);
        }
        gradients.beta += beta + s.delta * beta_z;
        gradients.omega +=
            omega * static_cast<float>(before.counts[i]) / static_cast<float>(products_.m());
    }
    return gradients;
}

}  // namespace pibinn::cpu
