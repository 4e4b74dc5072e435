#pragma once

#include <vector>

#include "algebra/backend.hpp"
#include "algebra/cuda/device.cuh"
#include "algebra/cuda/row_upload.cuh"

namespace pibinn::cuda {

/// Fully connected layers on a CUDA device.
class CudaLinearPass final : public LinearPass {
public:
    CudaLinearPass(const Queue& queue, std::span<const std::size_t> widths)
        : queue_(queue), widths_(widths.begin(), widths.end()) {
        for (std::size_t k = 0; k < widths_.size(); ++k) {
            x_.emplace_back();
            gradient_.emplace_back();
        }
    }

    void start(ConstBatchView input) override;
    void forward(std::size_t k, Activation activation, const LayerParameters& layer) override;
    void read_x(std::size_t k, BatchView to) const override;
    double loss(RowLoss kind, ConstBatchView target, std::span<const float> row_weights) override;
    void backward(std::size_t k, Activation activation, const LayerParameters& layer,
                  const LayerGradients& gradients, Into into) override;

private:
    const Queue& queue_;
    std::vector<std::size_t> widths_;
    std::size_t rows_ = 0;
    std::vector<DeviceArray<float>> x_, gradient_;
    DeviceArray<float> target_, weights_, theta_share_;
    RowUpload input_upload_, target_upload_, weights_upload_;
    DeviceArray<double> losses_;
    std::vector<double> host_losses_;
};

}  // namespace pibinn::cuda
