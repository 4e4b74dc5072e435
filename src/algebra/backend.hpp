#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "algebra/quantiser.hpp"
#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// What one unrolled layer does beside its links (r_k, z_k, x_k).
struct LayerScalars {
    Activation activation = Activation::soft;
    bool residual_threshold = false;  ///< theta_k mean|r_k| instead of theta_k
    bool momentum = false;            ///< beta counts
    bool onsager = false;             ///< omega counts
    float delta = 1;
    float theta = 0;
    float beta = 0;   ///< momentum
    float omega = 0;  ///< Onsager
    /// Of a hard threshold, backward only: the jump at |z| = tau is taken for a ramp from
    /// (1 - w) tau to (1 + w) tau, w = ramp (1 - softening); 0 leaves it a jump, without gradient.
    float ramp = 0;
    /// Of a hard threshold: the share of tau that is taken off what passes; 1 is the soft one.
    float softening = 0;
};

struct LayerScalarGradients {
    double theta = 0;
    double beta = 0;
    double omega = 0;
};

/// The distance of one row from its target; what else a loss is made of goes into row weights.
enum class RowLoss { squared, norm };

/// What a gradient does with what stands where it goes.
enum class Into { add, assign };

/// A batch of rows on its way through the K layers of one block of links. Forward leaves what
/// backward needs; a pass is used by one thread at a time and can be used again and again.
class UnrolledPass {
public:
    virtual ~UnrolledPass() = default;

    /// Starts a batch: x_0 = 0. At most the rows given at creation.
    virtual void start(ConstBatchView y) = 0;
    /// Layer k = 1..K with effective weights `w` (one number a link).
    virtual void forward(std::size_t k, const LayerScalars& scalars, std::span<const float> w) = 0;
    /// x_k as rows x n, until the next layer has run.
    virtual ConstBatchView x(std::size_t k) const = 0;

    /// The loss summed over the rows at x_K against the targets, each row weighted; prepares
    /// backward.
    virtual double loss(RowLoss kind, ConstBatchView target,
                        std::span<const float> row_weights) = 0;
    /// Layer k = K..1: puts the gradient of the weights into `dw`, returns that of the scalars.
    virtual LayerScalarGradients backward(std::size_t k, const LayerScalars& scalars,
                                          std::span<const float> w, std::span<float> dw,
                                          Into into) = 0;
};

/// A batch of rows through fully connected layers x_k = H(x_{k-1} W_k).
class LinearPass {
public:
    virtual ~LinearPass() = default;
    virtual void start(ConstBatchView input) = 0;
    virtual void forward(std::size_t k, Activation activation, float theta,
                         std::span<const float> w) = 0;
    virtual ConstBatchView x(std::size_t k) const = 0;
    virtual double loss(RowLoss kind, ConstBatchView target,
                        std::span<const float> row_weights) = 0;
    /// The gradient of the weights into `dw`; returns that of theta.
    virtual double backward(std::size_t k, Activation activation, std::span<const float> w,
                            std::span<float> dw, Into into) = 0;
};

struct AdamStep {
    float rate = 1e-3F;
    float beta1 = 0.9F;
    float beta2 = 0.999F;
    float epsilon = 1e-8F;
    std::uint64_t step = 1;     ///< counts from 1, for the bias correction
    float gradient_factor = 1;  ///< multiplies the gradient: clipping, averaging
};

/// The only interface behind which it matters where numbers live.
class Backend {
public:
    virtual ~Backend() = default;

    /// Rows a pass should be given at a time. Part of the result's rounding, hence fixed per
    /// backend.
    virtual std::size_t rows_per_pass() const = 0;

    virtual std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block,
                                                        std::span<const float> operator_values,
                                                        std::size_t layers, std::size_t rows) = 0;
    /// Widths: the input's, then each layer's.
    virtual std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                                    std::size_t rows) = 0;

    /// Effective weights of one layer; `scale` is the global one, `scales` receives the layer's own
    /// (one, or one a column) where the kind has such.
    virtual void quantise(const Quantiser& quantiser, const Structure& structure,
                          std::span<const float> latent, float scale, std::span<float> effective,
                          std::span<float> scales) = 0;
    virtual void adam(const AdamStep& step, std::span<float> values,
                      std::span<const float> gradient, std::span<float> first,
                      std::span<float> second) = 0;
    /// mean += share (values - mean)
    virtual void average(float share, std::span<const float> values, std::span<float> mean) = 0;
    /// total += part
    virtual void add(std::span<const float> part, std::span<float> total) = 0;
    virtual double squared_norm(std::span<const float> values) = 0;
    /// Straight-through gradient of a global scale: <dw, sign(latent)>.
    virtual double dot_signs(std::span<const float> gradient, std::span<const float> latent) = 0;
};

std::unique_ptr<Backend> make_cpu_backend();

}  // namespace pibinn
