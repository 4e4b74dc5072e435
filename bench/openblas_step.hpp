#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::bench {

/// A dense one-bit network with the plain update and the soft threshold. Links stand column by
/// column, as in the model file.
struct PlainNetwork {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    std::vector<float> a;       ///< the operator, n x m
    std::vector<float> latent;  ///< layers x n x m
    std::vector<float> theta;   ///< one per layer
    float scale = 1;
};

/// A training step of the plain network as one writes it on a good BLAS: whole batches through
/// five matrix products per layer, fused loops between them, straight-through signs, Adam. It does
/// not skip zeros. Threads share the rows of a batch.
class OpenBlasStep {
public:
    OpenBlasStep(PlainNetwork network, ThreadPool& pool);

    /// The mean over the rows of ||x_K - x||^2; leaves its gradient.
    double gradient(ConstBatchView y, ConstBatchView x);
    /// One step of Adam on weights, thresholds and the logarithm of the scale.
    void adam(float rate);

    const PlainNetwork& network() const { return network_; }
    std::span<const float> weight_gradient() const { return gradient_.weights; }
    std::span<const float> theta_gradient() const { return gradient_.theta; }

private:
    struct Gradient {
        AlignedBuffer<float> weights;
        std::vector<float> theta;
    };
    /// The workspace of one thread.
    struct Part {
        std::vector<AlignedBuffer<float>> x, r;
        AlignedBuffer<float> q, p, g;
        Gradient gradient;
        double loss = 0;
    };

    void rows_of(Part& part, ConstBatchView y, ConstBatchView x, float factor);

    PlainNetwork network_;
    ThreadPool& pool_;
    AlignedBuffer<float> effective_;
    std::vector<Part> parts_;
    Gradient gradient_, first_, second_;
    float scale_first_ = 0;
    float scale_second_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace pibinn::bench
