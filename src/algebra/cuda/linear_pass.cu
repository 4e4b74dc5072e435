#include "algebra/cuda/linear_pass.cuh"

#include "algebra/cuda/batch_copy.cuh"
#include "algebra/cuda/row_kernels.cuh"
#include "pibinn/error.hpp"

namespace pibinn::cuda {

void CudaLinearPass::start(ConstBatchView input) {
    ensure(input.cols == widths_[0], "a pass was given a batch it was not made for");
    rows_ = input.rows;
    for (std::size_t k = 0; k < widths_.size(); ++k) x_[k].reserve(rows_ * widths_[k]);
    input_upload_.send(queue_, input, x_[0].data());
}

void CudaLinearPass::forward(std::size_t k, Activation activation, const LayerParameters& layer) {
    // Links stand column by column: W is column-major, and a batch of rows is its transpose.
    queue_.multiply(true, false, widths_[k], rows_, widths_[k - 1], nullptr, numbers(layer.weights),
                    widths_[k - 1], x_[k - 1].data(), widths_[k - 1], false, x_[k].data(),
                    widths_[k]);
    linear_activation_rows(queue_, rows_,
                           {.n = widths_[k],
                            .activation = activation,
                            .theta = numbers(layer.theta),
                            .x = x_[k].data()});
}

void CudaLinearPass::read_x(std::size_t k, BatchView to) const {
    download_rows(queue_, x_[k].data(), to);
}

double CudaLinearPass::loss(RowLoss kind, ConstBatchView target,
                            std::span<const float> row_weights) {
    for (std::size_t k = 0; k < widths_.size(); ++k) gradient_[k].reserve(rows_ * widths_[k]);
    target_.reserve(rows_ * widths_.back());
    for (DeviceArray<float>* numbers_of_rows : {&weights_, &theta_share_})
        numbers_of_rows->reserve(rows_);
    losses_.reserve(rows_);
    target_upload_.send(queue_, target, target_.data());
    weights_upload_.send(queue_, one_row(row_weights), weights_.data());
    loss_rows(queue_, rows_,
              {.kind = kind,
               .n = widths_.back(),
               .x = x_.back().data(),
               .target = target_.data(),
               .weights = weights_.data(),
               .gradient = gradient_.back().data(),
               .losses = losses_.data()});
    host_losses_.resize(rows_);
    download(queue_, losses_.data(), rows_, host_losses_.data());
    double total = 0;
    for (const double row : host_losses_) total += row;
    return total;
}

void CudaLinearPass::backward(std::size_t k, Activation activation, const LayerParameters& layer,
                              const LayerGradients& gradients, Into into) {
    const std::size_t n = widths_[k], m = widths_[k - 1];
    float* g = gradient_[k].data();
    const bool learns = activation == Activation::soft;
    linear_gradient_rows(queue_, rows_, n, x_[k].data(), g, learns ? theta_share_.data() : nullptr);
    queue_.multiply(false, true, m, n, rows_, nullptr, x_[k - 1].data(), m, g, n, into == Into::add,
                    numbers(gradients.weights), m);
    if (k > 1)
        queue_.multiply(false, false, m, rows_, n, nullptr, numbers(layer.weights), m, g, n, false,
                        gradient_[k - 1].data(), m);
    ShareSums sums;
    if (learns) sums.add(theta_share_.data(), numbers(gradients.theta));
    add_shares(queue_, rows_, sums);
}

}  // namespace pibinn::cuda
