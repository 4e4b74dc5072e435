#pragma once

#include <vector>

#include "algebra/backend.hpp"

namespace pibinn::cpu {

/// Fully connected layers on the CPU, by plain matrix products: their activations are not sparse.
class CpuLinearPass final : public LinearPass {
public:
    CpuLinearPass(std::span<const std::size_t> widths, std::size_t max_rows);

    void start(ConstBatchView input) override;
    void forward(std::size_t k, Activation activation, const LayerParameters& layer) override;
    void read_x(std::size_t k, BatchView to) const override;
    double loss(RowLoss kind, ConstBatchView target, std::span<const float> row_weights) override;
    void backward(std::size_t k, Activation activation, const LayerParameters& layer,
                  const LayerGradients& gradients, Into into) override;

private:
    ConstBatchView x(std::size_t k) const;

    std::vector<std::size_t> widths_;
    std::size_t rows_ = 0;
    std::vector<Batch> x_;  ///< of every layer, the input first
    std::vector<Batch> gradient_;
};

}  // namespace pibinn::cpu
