#pragma once

#include <vector>

#include "algebra/backend.hpp"
#include "algebra/cuda/device.cuh"
#include "algebra/cuda/half_rows.cuh"
#include "algebra/cuda/row_kernels.cuh"
#include "algebra/cuda/row_upload.cuh"

namespace pibinn::cuda {

/// The unrolled layers on a CUDA device: products by cuBLAS on dense matrices, in which the links
/// that a mask has not are zero; everything between two products is one kernel. The tape keeps x,
/// z, r and A x of every layer. A layer's numbers never leave the device. Where products may round
/// their factors as TF32 does, those of large full blocks are in float16.
class CudaUnrolledPass final : public UnrolledPass {
public:
    CudaUnrolledPass(const Queue& queue, const Block& block, std::span<const float> operator_values,
                     std::size_t layers);

    void start(ConstBatchView y) override;
    void forward(std::size_t k, const LayerSettings& settings,
                 const LayerParameters& layer) override;
    void read_x(std::size_t k, BatchView to) const override;
    double loss(RowLoss kind, ConstBatchView target, std::span<const float> row_weights) override;
    void backward(std::size_t k, const LayerSettings& settings, const LayerParameters& layer,
                  const LayerGradients& gradients, Into into) override;

private:
    using Rows = DeviceArray<float>;

    /// What forward leaves of layer k (0 is the start).
    struct Layer {
        Rows r, x, z, p;
        Rows mean_abs, slopes, tau;
        DeviceArray<__half> w;  ///< where products are in float16
        HalfRows half_r;
        const float *beta = nullptr, *omega = nullptr;
    };

    /// A matrix of the block, column by column.
    struct Matrix {
        const float* values;
        const __half* halves;  ///< times matrix_scale_; null for products in float32 or TF32
    };

    /// From here on products are in float16.
    void halve_operator(std::span<const float> values);
    /// Memory for so many rows.
    void make_room(std::size_t rows);
    /// The weights of layer k as a dense matrix; in float16 those that forward had.
    Matrix weights(std::size_t k, const LayerParameters& layer);
    Matrix block() const { return {a_.data(), half_a_.size() > 0 ? half_a_.data() : nullptr}; }
    bool in_halves() const { return half_a_.size() > 0; }
    /// to = W x of every row, or W^T r; `halves` has the rows where products are in float16.
    void multiply(const Matrix& w, bool transposed, const float* rows, const HalfRows& halves,
                  float* to);
    static Shrink shrink_of(const LayerSettings& settings, const LayerParameters& layer);
    void gradient_of_x(std::size_t k, const LayerSettings& settings, const LayerParameters& layer);
    void gradient_of_weights(std::size_t k, const LayerParameters& layer, BufferView weights,
                             Into into);

    const Queue& queue_;
    std::size_t m_, n_, layers_;
    std::size_t rows_ = 0, room_ = 0;
    DeviceArray<unsigned> places_;  ///< of a mask's links in a dense matrix; empty of full blocks
    std::size_t links_;
    DeviceArray<float> a_, w_, dw_;
    DeviceArray<__half> half_a_;  ///< empty unless products are in float16
    float matrix_scale_ = 1;      ///< of the operator and of all weights
    HalfRows half_;               ///< those that the product at hand needs
    Rows y_, target_, weights_, q_, gp_;
    Rows hz_[3];  ///< -dL/dz of the last three layers
    Rows gr_[3];  ///< dL/dr of the last three layers
    Rows from_mean_, through_x_, omega_dot_;
    Rows shares_;  ///< [slot][row]: thetas, gains, step, beta, omega
    RowUpload y_upload_, target_upload_, weights_upload_;
    DeviceArray<double> losses_;
    std::vector<double> host_losses_;
    std::vector<Layer> tape_;
};

}  // namespace pibinn::cuda
