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

/// x of `kTiles` times four entries z: the first two of each four are of one row, the others of
/// another. Adds the slopes of the activation to those of the rows. `kSoft` says that it is the
/// soft threshold, which takes half the operations of one piece.
template <bool kSoft = false, int kTiles>
__device__ inline void shrink(const LayerKinds& kinds, const LayerNumbers& layer,
                              const float (&unit)[2], const float (&z)[kTiles][4],
                              float (&x)[kTiles][4], float (&slopes)[2]) {
    const auto each = [&](auto&& visit) {
#pragma unroll
        for (int t = 0; t < kTiles; ++t)
#pragma unroll
            for (int e = 0; e < 4; ++e) visit(z[t][e], x[t][e], e / 2);
    };
    if constexpr (kSoft) {
        const float t[2] = {layer.theta[0] * unit[0], layer.theta[0] * unit[1]};
        each([&](float from, float& to, int row) {
            to = from - fminf(fmaxf(from, -t[row]), t[row]);
            slopes[row] += to != 0 ? 1.0F : 0.0F;
        });
        return;
    }
    if (kinds.activation == Activation::hard || kinds.activation == Activation::relu) {
        const bool relu = kinds.activation == Activation::relu;
        each([&](float from, float& to, int row) {
            const bool passes = relu ? from > 0 : fabsf(from) >= layer.theta[0] * unit[row];
            to = passes ? from : 0.0F;
            slopes[row] += to != 0 ? 1.0F : 0.0F;
        });
        return;
    }
    each([&](float, float& to, int) { to = 0; });
    for (unsigned j = 0; j < kinds.pieces; ++j) {
        const float gain = layer.gain[j];
        const float t[2] = {layer.theta[j] * unit[0], layer.theta[j] * unit[1]};
        const float slope = kinds.onsager ? gain : 0.0F;
        each([&](float from, float& to, int row) {
            const float over = fabsf(from) - t[row];
            to = fmaf(gain, fmaxf(over, 0.0F), to);
            slopes[row] += over > 0 ? slope : 0.0F;
        });
    }
    each([&](float from, float& to, int) { to = copysignf(1.0F, from) * to; });
}

}  // namespace pibinn::cuda
