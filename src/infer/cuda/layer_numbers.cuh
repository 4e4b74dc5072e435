#pragma once

#include <cstddef>

#include "algebra/cuda/device.cuh"
#include "infer/device_network.hpp"

namespace pibinn::cuda {

/// The numbers of one layer, as kernels read them.
struct LayerNumbers {
    float beta, omega, step;
    float theta[kMostPieces], gain[kMostPieces];
};

/// What all layers have in common.
struct LayerKinds {
    std::size_t layers;
    Activation activation;
    unsigned pieces;
    bool residual_threshold, momentum, onsager;
    float delta;
};

LayerKinds kinds_of(const DeviceNetwork& network);
DeviceArray<LayerNumbers> layer_numbers(const DeviceNetwork& network);

/// The threshold of one entry is theta_j times this.
__device__ inline float threshold_unit(const LayerKinds& kinds, float mean_abs) {
    return kinds.residual_threshold ? mean_abs : 1.0F;
}

/// x of `count` entries z of one row or of two: the rows of odd numbers of halves have `unit1`.
/// Adds slopes of the activation to those of the row. `Row(e)` is 0 or 1.
template <int kCount, class Row>
__device__ inline void shrink(const LayerKinds& kinds, const LayerNumbers& layer,
                              const float (&unit)[2], const float (&z)[kCount],
                              float (&x)[kCount], float (&slopes)[2], Row row) {
    if (kinds.activation == Activation::hard || kinds.activation == Activation::relu) {
        const bool relu = kinds.activation == Activation::relu;
#pragma unroll
        for (int e = 0; e < kCount; ++e) {
            const bool passes = relu ? z[e] > 0 : fabsf(z[e]) >= layer.theta[0] * unit[row(e)];
            x[e] = passes ? z[e] : 0.0F;
            slopes[row(e)] += x[e] != 0 ? 1.0F : 0.0F;
        }
        return;
    }
#pragma unroll
    for (int e = 0; e < kCount; ++e) x[e] = 0;
    for (unsigned j = 0; j < kinds.pieces; ++j) {
        const float gain = layer.gain[j];
        const float t[2] = {layer.theta[j] * unit[0], layer.theta[j] * unit[1]};
#pragma unroll
        for (int e = 0; e < kCount; ++e) {
            const float over = fabsf(z[e]) - t[row(e)];
            x[e] = fmaf(gain, fmaxf(over, 0.0F), x[e]);
            if (kinds.onsager) slopes[row(e)] += over > 0 ? gain : 0.0F;
        }
    }
#pragma unroll
    for (int e = 0; e < kCount; ++e) x[e] = z[e] < 0 ? -x[e] : x[e];
}

}  // namespace pibinn::cuda
