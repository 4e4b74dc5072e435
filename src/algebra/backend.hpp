#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "algebra/buffer.hpp"
#include "algebra/quantiser.hpp"
#include "algebra/sites.hpp"
#include "pibinn/activation.hpp"
#include "pibinn/error.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What all layers of an unrolled network do alike (r_k, z_k, x_k).
struct LayerSettings {
    Activation activation = Activation::soft;
    bool residual_threshold = false;  ///< theta_k mean|r_k| instead of theta_k
    bool momentum = false;            ///< beta counts
    bool onsager = false;             ///< omega counts
    bool centre = false;              ///< residuals are taken less their mean over the rows
    float delta = 1;
    /// Of a hard threshold, backward only: the jump at |z| = tau is taken for a ramp from
    /// (1 - w) tau to (1 + w) tau, w = ramp (1 - softening); 0 leaves it a jump, without gradient.
    float ramp = 0;
    /// Of a hard threshold: the share of tau that is taken off what passes; 1 is the soft one.
    float softening = 0;
};

/// The numbers of one layer: effective weights, one per link (none: the operator itself), one
/// threshold and gain per piece, what neighbouring sites count, the logarithm of each site's
/// variance, and one of each other kind, or none where the network has none.
template <class View>
struct BasicLayerNumbers {
    View weights, theta, gain, step, beta, omega, local, prior;
};
using LayerParameters = BasicLayerNumbers<ConstBufferView>;
using LayerGradients = BasicLayerNumbers<BufferView>;

/// The distance of one row from its target; what else a loss is made of goes into row weights.
enum class RowLoss {
    squared,
    norm,
    tempered  ///< the norm to the power of kTempered
};
inline constexpr float kTempered = 1.4F;

/// What a gradient does with what stands where it goes.
enum class Into { add, assign };

/// What a pass is made for. One for recovery alone has no way back: it may keep the last layers
/// instead of all of them. Both recover the same bits.
enum class PassUse { training, recovery };

/// A batch of rows on its way through the K layers of one block of links. Batches come from host
/// memory and go back there; all else stays where the backend keeps it. Forward leaves what
/// backward needs. One thread at a time uses a pass, again and again.
class UnrolledPass {
public:
    virtual ~UnrolledPass() = default;

    /// Starts a batch: x_0 = 0. At most the rows given at creation.
    virtual void start(ConstBatchView y) = 0;
    /// Layer k = 1..K.
    virtual void forward(std::size_t k, const LayerSettings& settings,
                         const LayerParameters& layer) = 0;
    /// Copies x_k out, rows x n; until the next layer has run.
    virtual void read_x(std::size_t k, BatchView to) const = 0;

    /// The loss summed over the rows at x_K against the targets, each row weighted; prepares
    /// backward.
    virtual double loss(RowLoss kind, ConstBatchView target,
                        std::span<const float> row_weights) = 0;
    /// Layer k = K..1: puts the gradient of the weights where `into` says, and adds all others.
    virtual void backward(std::size_t k, const LayerSettings& settings,
                          const LayerParameters& layer, const LayerGradients& gradients,
                          Into into) = 0;
};

/// A batch of rows through fully connected layers x_k = H(x_{k-1} W_k). Layers have weights and
/// theta alone.
class LinearPass {
public:
    virtual ~LinearPass() = default;
    virtual void start(ConstBatchView input) = 0;
    virtual void forward(std::size_t k, Activation activation, const LayerParameters& layer) = 0;
    virtual void read_x(std::size_t k, BatchView to) const = 0;
    virtual double loss(RowLoss kind, ConstBatchView target,
                        std::span<const float> row_weights) = 0;
    virtual void backward(std::size_t k, Activation activation, const LayerParameters& layer,
                          const LayerGradients& gradients, Into into) = 0;
};

struct AdamStep {
    float rate = 1e-3F;
    float beta1 = 0.9F;
    float beta2 = 0.999F;
    float epsilon = 1e-8F;
    std::uint64_t step = 1;  ///< counts from 1, for the bias correction
    double clip = 0;         ///< largest norm of the gradient; 0 does not clip
};

/// What Adam moves and remembers: ranges of one length.
struct AdamNumbers {
    BufferView values;
    ConstBufferView gradient;
    BufferView first, second;
};

/// The only code that knows where numbers live. Everything that is done to parameters is one of its
/// operations, so that networks and training are written once.
class Backend {
public:
    virtual ~Backend() = default;

    /// Numbers that are all zero.
    virtual std::unique_ptr<Buffer> allocate(std::size_t count) = 0;
    virtual void upload(std::span<const float> from, BufferView to) = 0;
    virtual void download(ConstBufferView from, std::span<float> to) const = 0;
    /// The numbers themselves where they are in host memory, nothing otherwise.
    virtual std::span<float> on_host(BufferView) { return {}; }

    /// Rows a pass should be given at a time. Part of the result's rounding, hence fixed per
    /// backend.
    virtual std::size_t rows_per_pass() const = 0;
    /// Parts of a batch's passes that may run side by side, each with a gradient of its own.
    /// Likewise fixed.
    virtual std::size_t shards() const = 0;
    /// The pass copies the operator's values, one per link of the block. With groups of rows, every
    /// batch is a whole number of groups.
    virtual std::unique_ptr<UnrolledPass> unrolled_pass(const Block& block,
                                                        std::span<const float> operator_values,
                                                        std::size_t layers, std::size_t rows,
                                                        const Sites& sites, PassUse use) = 0;
    /// Widths: the input's, then each layer's.
    virtual std::unique_ptr<LinearPass> linear_pass(std::span<const std::size_t> widths,
                                                    std::size_t rows) = 0;

    virtual void copy(ConstBufferView from, BufferView to) = 0;
    virtual void fill(float value, BufferView values) = 0;
    /// values *= factor
    virtual void multiply(float factor, BufferView values) = 0;
    /// values = max(values, least)
    virtual void keep_at_least(float least, BufferView values) = 0;
    /// mean += share (values - mean)
    virtual void average(float share, ConstBufferView values, BufferView mean) = 0;
    /// total = the sum of the parts, in their order; total itself may be the first of them
    virtual void sum(std::span<const ConstBufferView> parts, BufferView total,
                     ThreadPool& pool) = 0;
    virtual double squared_norm(ConstBufferView values) = 0;

    virtual void adam(const AdamStep& step, const AdamNumbers& numbers) = 0;
    /// Adam of the weights of all layers. `of_scale` is one number, or empty: it gets the
    /// scale_gradient of the weights before the step.
    virtual void adam_of_weights(const AdamStep& step, std::span<const AdamNumbers> layers,
                                 BufferView of_scale) {
        if (!of_scale.empty()) {
            std::vector<ConstBufferView> gradients, weights;
            for (const AdamNumbers& layer : layers) {
                gradients.push_back(layer.gradient);
                weights.push_back(layer.values);
            }
            scale_gradient(gradients, weights, of_scale);
        }
        for (const AdamNumbers& layer : layers) adam(step, layer);
    }
    /// A step of the logarithm of one positive number v: d loss / d log(v) = v d loss / d v.
    virtual void adam_of_logarithm(const AdamStep& step, const AdamNumbers& number) = 0;

    /// Effective weights of one layer; `global_scale` is one number, or empty where the quantiser
    /// has none.
    virtual void quantise(const Quantiser& quantiser, const Structure& structure,
                          ConstBufferView latent, ConstBufferView global_scale,
                          BufferView effective) = 0;
    /// On a complex structure, the two places of each number become the mean of both.
    virtual void average_pairs(const Structure& structure, BufferView links) = 0;
    /// On a complex structure, the second place of each number becomes what the first one says.
    virtual void copy_pairs(const Structure& structure, BufferView links) = 0;
    /// The straight-through gradient of a global scale: the sum over the layers of
    /// <dw, sign(latent)>.
    virtual void scale_gradient(std::span<const ConstBufferView> weight_gradients,
                                std::span<const ConstBufferView> latents, BufferView gradient) = 0;
    /// What one layer adds to that sum, <dw, sign(latent)>, before it is rounded to float32. Only
    /// where numbers are in host memory.
    virtual double scale_gradient_of(ConstBufferView, ConstBufferView) {
        ensure(false, "a sum over layers of several ranks");
        return 0;
    }
    /// The prox of `strength` sum min(|w - level|, |w + level|): each weight moves towards its
    /// nearer level by `strength`, never past it. `level` is one number.
    virtual void move_towards_levels(ConstBufferView level, float strength, BufferView weights) = 0;
};

/// More than any machine this is meant for has cores for one training; each costs one gradient.
inline constexpr std::size_t kCpuShards = 8;

std::unique_ptr<Backend> make_cpu_backend();

/// By the name of a device: "cpu", "cuda", or "cuda-tf32", whose products round their factors to 11
/// bits. Refuses one that this machine does not have.
std::unique_ptr<Backend> make_backend(std::string_view device);

}  // namespace pibinn
