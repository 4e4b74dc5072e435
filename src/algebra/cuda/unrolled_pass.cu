#include "algebra/cuda/unrolled_pass.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "algebra/cuda/batch_copy.cuh"
#include "algebra/cuda/flat_kernels.cuh"
#include "pibinn/error.hpp"

namespace pibinn::cuda {

namespace {

// From here on float16 pays: 5000 x 10000 takes half the time of TF32.
constexpr std::size_t kHalvesFrom = std::size_t{1} << 20;

bool learns_theta(const LayerSettings& s) {
    switch (s.activation) {
        case Activation::soft:
        case Activation::piecewise:
            return true;
        case Activation::hard:
            return s.ramp > 0;
        default:
            return false;
    }
}

}  // namespace

CudaUnrolledPass::CudaUnrolledPass(const Queue& queue, const Block& block,
                                   std::span<const float> operator_values, std::size_t layers)
    : queue_(queue),
      m_(block.rows),
      n_(block.cols),
      layers_(layers),
      links_(block.links()),
      a_(block.rows * block.cols),
      tape_(layers + 1) {
    if (!block.full() && m_ * n_ > UINT32_MAX)
        fail_usage("a CUDA device trains no mask of " + std::to_string(m_) + " x " +
                       std::to_string(n_) + ": it has over 2^32 places",
                   "set TrainOptions::device = \"cpu\"");
    std::vector<float> dense(m_ * n_, 0.0F);
    std::vector<unsigned> places(links_);
    for (std::size_t j = 0; j < n_; ++j)
        for (std::size_t l = block.column_begin(j); l < block.column_begin(j + 1); ++l) {
            const std::size_t i = block.full() ? l - j * m_ : block.row_indices[l];
            places[l] = static_cast<unsigned>(j * m_ + i);
            dense[j * m_ + i] = operator_values[l];
        }
    upload(queue_, dense.data(), dense.size(), a_.data());
    if (block.full()) {
        if (queue_.tf32() && m_ * n_ >= kHalvesFrom) halve_operator(operator_values);
        return;
    }
    places_.reserve(links_);
    upload(queue_, places.data(), places.size(), places_.data());
    w_.reserve(m_ * n_);
    dw_.reserve(m_ * n_);
}

void CudaUnrolledPass::halve_operator(std::span<const float> values) {
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    matrix_scale_ = half_scale(largest);
    half_a_.reserve(m_ * n_);
    halve_matrix(queue_, a_.data(), m_ * n_, matrix_scale_, half_a_.data());
}

void CudaUnrolledPass::make_room(std::size_t rows) {
    if (rows <= room_) return;
    check(cudaStreamSynchronize(queue_.stream), "waiting for a batch");
    for (Rows* of_m : {&y_, &gp_}) of_m->reserve(rows * m_);
    q_.reserve(rows * n_);
    for (Layer& layer : tape_) {
        layer.r.reserve(rows * m_);
        layer.p.reserve(rows * m_);
        layer.x.reserve(rows * n_);
        layer.z.reserve(rows * n_);
        for (Rows* of_rows : {&layer.mean_abs, &layer.slopes, &layer.tau}) of_rows->reserve(rows);
        if (in_halves()) layer.half_r.reserve(rows * m_);
    }
    if (in_halves()) half_.reserve(rows * std::max(m_, n_));
    room_ = rows;
}

void CudaUnrolledPass::start(ConstBatchView y) {
    ensure(y.cols == m_, "a pass was given a batch it was not made for");
    rows_ = y.rows;
    make_room(rows_);
    y_upload_.send(queue_, y, y_.data());
}

CudaUnrolledPass::Matrix CudaUnrolledPass::weights(std::size_t k, const LayerParameters& layer) {
    if (layer.weights.empty()) return block();
    if (in_halves()) return {numbers(layer.weights), tape_[k].w.data()};
    if (places_.size() == 0) return {numbers(layer.weights), nullptr};
    scatter(queue_, numbers(layer.weights), places_.data(), links_, w_.data());
    return {w_.data(), nullptr};
}

void CudaUnrolledPass::multiply(const Matrix& w, bool transposed, const float* rows,
                                const HalfRows& halves, float* to) {
    const std::size_t out = transposed ? n_ : m_, in = transposed ? m_ : n_;
    if (w.halves != nullptr)
        queue_.multiply(transposed, false, out, rows_, in, halves.unit_with_matrix(), w.halves, m_,
                        halves.values(), in, false, to, out);
    else
        queue_.multiply(transposed, false, out, rows_, in, nullptr, w.values, m_, rows, in, false,
                        to, out);
}

Shrink CudaUnrolledPass::shrink_of(const LayerSettings& s, const LayerParameters& layer) {
    return {.activation = s.activation,
            .pieces = s.activation == Activation::piecewise ? layer.theta.count : 0,
            .theta = numbers(layer.theta),
            .gain = numbers(layer.gain),
            .residual_threshold = s.residual_threshold,
            .softening = s.softening,
            .ramp = s.activation == Activation::hard ? s.ramp : 0.0F};
}

void CudaUnrolledPass::forward(std::size_t k, const LayerSettings& settings,
                               const LayerParameters& layer) {
    if (settings.centre)
        fail_usage("a CUDA device trains no networks with centred residuals",
                   "set TrainOptions::device = \"cpu\"");
    Layer& now = tape_[k];
    const Layer& before = tape_[k - 1];
    now.beta = numbers(layer.beta);
    now.omega = numbers(layer.omega);
    const bool first = k == 1;
    const bool earlier = k >= 3 && now.beta != nullptr;  // x_0 = 0 adds nothing
    if (!first) {
        if (in_halves()) half_.assign(queue_, before.x.data(), rows_ * n_, matrix_scale_);
        multiply(block(), false, before.x.data(), half_, before.p.data());
    }
    residual_rows(queue_, rows_,
                  {.m = m_,
                   .p1 = first ? nullptr : before.p.data(),
                   .p2 = earlier ? tape_[k - 2].p.data() : nullptr,
                   .y = y_.data(),
                   .previous = first || now.omega == nullptr ? nullptr : before.r.data(),
                   .slopes = before.slopes.data(),
                   .beta = now.beta,
                   .omega = now.omega,
                   .r = now.r.data(),
                   .mean_abs = now.mean_abs.data()});
    if (in_halves()) {
        now.half_r.assign(queue_, now.r.data(), rows_ * m_, matrix_scale_);
        if (!layer.weights.empty()) {
            now.w.reserve(m_ * n_);
            halve_matrix(queue_, numbers(layer.weights), m_ * n_, matrix_scale_, now.w.data());
        }
    }
    multiply(weights(k, layer), true, now.r.data(), now.half_r, q_.data());
    threshold_rows(queue_, rows_,
                   {.n = n_,
                    .shrink = shrink_of(settings, layer),
                    .delta = settings.delta,
                    .x1 = first ? nullptr : before.x.data(),
                    .x2 = earlier ? tape_[k - 2].x.data() : nullptr,
                    .q = q_.data(),
                    .step = numbers(layer.step),
                    .beta = now.beta,
                    .mean_abs = now.mean_abs.data(),
                    .x = now.x.data(),
                    .z = now.z.data(),
                    .tau = now.tau.data(),
                    .slopes = now.slopes.data()});
}

void CudaUnrolledPass::read_x(std::size_t k, BatchView to) const {
    download_rows(queue_, tape_[k].x.data(), to);
}

double CudaUnrolledPass::loss(RowLoss kind, ConstBatchView target,
                              std::span<const float> row_weights) {
    for (Rows& rows : hz_) rows.reserve(room_ * n_);
    for (Rows& rows : gr_) rows.reserve(room_ * m_);
    for (Rows* rows : {&from_mean_, &through_x_, &omega_dot_, &weights_}) rows->reserve(room_);
    target_.reserve(room_ * n_);
    shares_.reserve(room_ * kMostSums);
    losses_.reserve(room_);
    target_upload_.send(queue_, target, target_.data());
    weights_upload_.send(queue_, one_row(row_weights), weights_.data());
    loss_rows(queue_, rows_,
              {.kind = kind,
               .n = n_,
               .x = tape_[layers_].x.data(),
               .target = target_.data(),
               .weights = weights_.data(),
               .gradient = q_.data(),
               .losses = losses_.data()});
    host_losses_.resize(rows_);
    download(queue_, losses_.data(), rows_, host_losses_.data());
    double total = 0;
    for (const double row : host_losses_) total += row;
    return total;
}

void CudaUnrolledPass::gradient_of_x(std::size_t k, const LayerSettings& s,
                                     const LayerParameters& layer) {
    const Layer& now = tape_[k];
    const bool top = k == layers_;
    const bool two = k + 2 <= layers_ && tape_[k + 2].beta != nullptr;
    const float* beta1 = top ? nullptr : tape_[k + 1].beta;
    const float* beta2 = two ? tape_[k + 2].beta : nullptr;
    if (!top) {
        // p_k enters r_{k+1} by 1 + beta_{k+1} and r_{k+2} by -beta_{k+2}; x_k enters z likewise.
        const float* gp = gr_[(k + 1) % 3].data();
        if (beta1 != nullptr) {
            combine(queue_, rows_ * m_, beta1, gp, beta2, two ? gr_[(k + 2) % 3].data() : nullptr,
                    gp_.data());
            gp = gp_.data();
        }
        if (in_halves()) half_.assign(queue_, gp, rows_ * m_, matrix_scale_);
        multiply(block(), true, gp, half_, q_.data());
    }
    const bool with_beta = s.momentum && k > 1;
    const std::size_t pieces = s.activation == Activation::piecewise ? layer.theta.count : 0;
    signal_gradient_rows(queue_, {.n = n_,
                                  .m = m_,
                                  .shrink = shrink_of(s, layer),
                                  .x = now.x.data(),
                                  .z = now.z.data(),
                                  .tau = now.tau.data(),
                                  .mean_abs = now.mean_abs.data(),
                                  .delta = s.delta,
                                  .q = q_.data(),
                                  .hz1 = top ? nullptr : hz_[(k + 1) % 3].data(),
                                  .hz2 = two ? hz_[(k + 2) % 3].data() : nullptr,
                                  .beta1 = beta1,
                                  .beta2 = beta2,
                                  .omega1 = top ? nullptr : tape_[k + 1].omega,
                                  .omega_share = omega_dot_.data(),
                                  .x1 = with_beta ? tape_[k - 1].x.data() : nullptr,
                                  .x2 = with_beta && k > 2 ? tape_[k - 2].x.data() : nullptr,
                                  .hz = hz_[k % 3].data(),
                                  .from_mean = from_mean_.data(),
                                  .through_x = through_x_.data(),
                                  .theta_share = shares_.data(),
                                  .gain_share = shares_.data() + pieces * rows_,
                                  .rows = rows_});
}

void CudaUnrolledPass::gradient_of_weights(std::size_t k, const LayerParameters& layer,
                                           BufferView weights, Into into) {
    const bool full = places_.size() == 0;
    const bool accumulate = full && into == Into::add;
    float* to = full ? numbers(weights) : dw_.data();
    if (in_halves())
        queue_.multiply(false, true, m_, n_, rows_, half_.unit_with_others(),
                        tape_[k].half_r.values(), m_, half_.values(), n_, accumulate, to, m_);
    else
        queue_.multiply(false, true, m_, n_, rows_, numbers(layer.step), tape_[k].r.data(), m_,
                        hz_[k % 3].data(), n_, accumulate, to, m_);
    if (!full)
        gather(queue_, dw_.data(), places_.data(), links_, into == Into::add, numbers(weights));
}

void CudaUnrolledPass::backward(std::size_t k, const LayerSettings& s, const LayerParameters& layer,
                                const LayerGradients& gradients, Into into) {
    const Layer& now = tape_[k];
    const Layer& before = tape_[k - 1];
    float* gr = gr_[k % 3].data();
    const float* hz = hz_[k % 3].data();
    gradient_of_x(k, s, layer);
    if (in_halves())
        half_.assign(queue_, hz, rows_ * n_, matrix_scale_, now.half_r, numbers(layer.step));

    const std::size_t pieces = s.activation == Activation::piecewise ? layer.theta.count : 0;
    ShareSums sums;
    const auto slot = [&](std::size_t index) { return shares_.data() + index * rows_; };
    if (pieces > 0) {
        for (std::size_t p = 0; p < pieces; ++p) {
            sums.add(slot(p), numbers(gradients.theta.part(p, 1)));
            sums.add(slot(pieces + p), numbers(gradients.gain.part(p, 1)));
        }
    } else if (learns_theta(s)) {
        sums.add(slot(0), numbers(gradients.theta));
    }
    const bool with_beta = s.momentum && k > 1;
    const bool with_omega = s.onsager && k > 1;
    const bool with_step = !layer.step.empty();
    if (k > 1 || with_step) {  // nothing else asks for dL/dr_1
        multiply(weights(k, layer), false, hz, half_, gr);
        const bool carried = k < layers_ && tape_[k + 1].omega != nullptr;
        float* own = slot(2 * kMostPieces);
        residual_gradient_rows(
            queue_, rows_,
            {.m = m_,
             .g = gr,
             .step = numbers(layer.step),
             .next = carried ? gr_[(k + 1) % 3].data() : nullptr,
             .slopes = now.slopes.data(),
             .omega1 = carried ? tape_[k + 1].omega : nullptr,
             .r = now.r.data(),
             .from_mean = s.residual_threshold && learns_theta(s) ? from_mean_.data() : nullptr,
             .p1 = with_beta ? before.p.data() : nullptr,
             .p2 = with_beta && k > 2 ? tape_[k - 2].p.data() : nullptr,
             .r_before = with_omega ? before.r.data() : nullptr,
             .slopes_before = before.slopes.data(),
             .through_x = through_x_.data(),
             .delta = s.delta,
             .step_share = with_step ? own : nullptr,
             .beta_share = with_beta ? own + rows_ : nullptr,
             .omega_share = with_omega ? own + 2 * rows_ : nullptr,
             .omega_dot = omega_dot_.data()});
        if (with_step) sums.add(own, numbers(gradients.step));
        if (with_beta) sums.add(own + rows_, numbers(gradients.beta));
        if (with_omega) sums.add(own + 2 * rows_, numbers(gradients.omega));
    }
    if (!layer.weights.empty()) gradient_of_weights(k, layer, gradients.weights, into);
    add_shares(queue_, rows_, sums);
}

}  // namespace pibinn::cuda
