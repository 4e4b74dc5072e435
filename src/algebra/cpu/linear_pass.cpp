#include "algebra/cpu/linear_pass.hpp"

#include <algorithm>

#include "algebra/activate.hpp"
#include "algebra/cpu/cpu_buffer.hpp"
#include "algebra/cpu/row_loss.hpp"
#include "algebra/products.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cpu {

CpuLinearPass::CpuLinearPass(std::span<const std::size_t> widths, std::size_t max_rows)
    : widths_(widths.begin(), widths.end()) {
    for (std::size_t width : widths_) x_.emplace_back(max_rows, width);
}

void CpuLinearPass::start(ConstBatchView input) {
    ensure(input.cols == widths_[0] && input.rows <= x_[0].rows(),
           "a pass was given a batch it was not made for");
    rows_ = input.rows;
    for (std::size_t i = 0; i < rows_; ++i)
        std::copy_n(input.row(i).begin(), input.cols, x_[0].row(i).begin());
}

ConstBatchView CpuLinearPass::x(std::size_t k) const { return x_[k].view().row_range(0, rows_); }

void CpuLinearPass::read_x(std::size_t k, BatchView to) const {
    const ConstBatchView from = x(k);
    for (std::size_t i = 0; i < from.rows; ++i)
        std::copy_n(from.row(i).begin(), from.cols, to.row(i).begin());
}

void CpuLinearPass::forward(std::size_t k, Activation activation, const LayerParameters& layer) {
    const auto w = numbers(layer.weights);
    const float theta = number(layer.theta);
    // Links stand column by column, so `w` is W^T as a row-major matrix.
    const BatchView out = x_[k].view().row_range(0, rows_);
    multiply<float>(x(k - 1), false, {w.data(), widths_[k], widths_[k - 1]}, true, out);
    for (std::size_t i = 0; i < rows_; ++i)
        for (float& z : out.row(i)) z = activate(activation, z, theta);
}

double CpuLinearPass::loss(RowLoss kind, ConstBatchView target,
                           std::span<const float> row_weights) {
    if (gradient_.empty())
        for (const Batch& x : x_) gradient_.emplace_back(x.rows(), x.cols());
    return row_loss(kind, x(widths_.size() - 1), target, row_weights, 1,
                    gradient_.back().view().row_range(0, rows_));
}

void CpuLinearPass::backward(std::size_t k, Activation activation, const LayerParameters& layer,
                             const LayerGradients& gradients, Into into) {
    const auto w = numbers(layer.weights);
    const auto dw = numbers(gradients.weights);
    const BatchView g = gradient_[k].view().row_range(0, rows_);
    const ConstBatchView out = x(k);
    const bool learns = rules_of(activation).learning == ThresholdLearning::always;
    double dtheta = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
        float row_sum = 0;
        for (std::size_t j = 0; j < out.cols; ++j) {
            const float value = out(i, j);
            if (value == 0.0F) g(i, j) = 0.0F;
            if (learns) row_sum -= value > 0 ? g(i, j) : -g(i, j);
        }
        dtheta += row_sum;
    }
    multiply<float>(ConstBatchView(g), true, x(k - 1), false,
                    {dw.data(), widths_[k], widths_[k - 1]}, into == Into::add);
    if (k > 1)
        multiply<float>(ConstBatchView(g), false, {w.data(), widths_[k], widths_[k - 1]}, false,
                        gradient_[k - 1].view().row_range(0, rows_));
    add_to_number(gradients.theta, dtheta);
}

}  // namespace pibinn::cpu
