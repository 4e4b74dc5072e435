#pragma once

#include <cstdint>

#include "algebra/cuda/device.cuh"
#include "infer/cuda/block_network.cuh"
#include "infer/cuda/half_parts.cuh"
#include "infer/cuda/layer_numbers.cuh"
#include "infer/cuda/warp_products.cuh"

// A warp takes sixteen signals through all layers. In mma.m16n8k16 the sums of two neighbouring
// tiles of columns stand where the first factor of the next product is read from, so that x, r and
// their float16 parts never leave the registers. Matrices are laid out beforehand as each lane
// reads them: the operator stays in shared memory, the weights of the next layer come there while
// the present one runs.

namespace pibinn::cuda {

namespace resident {

constexpr int kWarps = 8;
constexpr int kRowsPerWarp = 16;
constexpr int kRowsPerBlock = kWarps * kRowsPerWarp;

/// Tiles of eight columns, and of sixteen where they are summed over.
struct Tiles {
    static constexpr int m = 7, n = 13;
    static constexpr int deep_m = (m + 1) / 2, deep_n = (n + 1) / 2;
};
constexpr std::size_t kMostRows = 8 * Tiles::m, kMostColumns = 8 * Tiles::n;
constexpr std::size_t kMostLayers = 500;  ///< whose numbers fit beside the matrices

constexpr int kOperatorWords = Tiles::deep_n * Tiles::m * 32;  ///< of uint2, per part
constexpr int kWeightWords = Tiles::deep_m * Tiles::n * 32;

/// How many float16 parts the operator, the weights and the activations have.
struct Parts {
    int a, w, x;
};

struct Args {
    BlockRows rows;
    unsigned m, n;
    LayerKinds kinds;
    const LayerNumbers* layers;
    const uint2 *a, *w;  ///< parts of the operator; parts of each layer's weights
    const float* units;  ///< of the operator, then of each layer's weights
    bool tied;           ///< one set of weights for all layers
    int residual_exponent;
};

/// Tiles side by side, so that no product waits for the one before it: a tile's own sum takes 33
/// cycles.
template <int kFactorParts, int kMatrixParts, int kCount>
__device__ void multiply_tiles(float (&sums)[kCount][4], const Factor& factor, const uint2* matrix,
                               int words) {
    uint2 high[kCount];
#pragma unroll
    for (int t = 0; t < kCount; ++t) {
        high[t] = matrix[t * 32];
        multiply_add(sums[t], factor.high, high[t]);
    }
    if constexpr (kFactorParts == 2) {
#pragma unroll
        for (int t = 0; t < kCount; ++t) multiply_add(sums[t], factor.low, high[t]);
    }
    if constexpr (kMatrixParts == 2) {
#pragma unroll
        for (int t = 0; t < kCount; ++t) multiply_add(sums[t], factor.high, matrix[words + t * 32]);
    }
}

template <int kParts>
__device__ void fetch_weights(uint2* to, const uint2* from) {
    constexpr int pieces = kParts * kWeightWords / 2;
    for (int i = static_cast<int>(threadIdx.x); i < pieces; i += kWarps * 32)
        copy_async(reinterpret_cast<uint4*>(to) + i, reinterpret_cast<const uint4*>(from) + i);
}

__device__ void store_rows(const float (&x)[Tiles::n][4], float* to, std::size_t stride,
                           std::size_t first, const BlockRows& rows, unsigned n,
                           const bool (&failed)[2]) {
    const unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const std::size_t row = first + lane / 4 + 8 * h;
        if (row >= rows.rows) continue;
        float* line = to + row * stride;
#pragma unroll
        for (int t = 0; t < Tiles::n; ++t)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const unsigned column = 8 * t + 2 * (lane % 4) + c;
                if (column < n) line[column] = failed[h] ? NAN : x[t][2 * h + c];
            }
    }
}

template <int kA, int kW, int kX>
__global__ void __launch_bounds__(kWarps * 32, 1) resident_kernel(Args args) {
    extern __shared__ uint4 shared[];
    auto* const a = reinterpret_cast<uint2*>(shared);
    uint2* const w = a + kA * kOperatorWords;
    auto* const measured = reinterpret_cast<float2*>(w + 2 * kW * kWeightWords);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float2* const y = measured + warp * Tiles::m * 2 * 32;
    auto* const layers = reinterpret_cast<LayerNumbers*>(measured + kWarps * Tiles::m * 2 * 32);
    const LayerKinds& kinds = args.kinds;
    const auto m = static_cast<float>(args.m);

    for (int i = static_cast<int>(threadIdx.x); i < kA * kOperatorWords; i += kWarps * 32)
        a[i] = args.a[i];
    for (std::size_t k = threadIdx.x; k < kinds.layers; k += kWarps * 32)
        layers[k] = args.layers[k];
    fetch_weights<kW>(w, args.w);
    int buffer = 0;  // that holds the weights of the layer at hand

    for (std::size_t batch = blockIdx.x; batch * kRowsPerBlock < args.rows.rows;
         batch += gridDim.x) {
        const std::size_t first = batch * kRowsPerBlock + warp * kRowsPerWarp;
#pragma unroll
        for (int t = 0; t < Tiles::m; ++t)
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const std::size_t row = first + lane / 4 + 8 * h;
                const unsigned column = 8 * t + 2 * (lane % 4);
                const float* line = args.rows.y + row * args.rows.y_stride;
                float2 value{0, 0};
                if (row < args.rows.rows) {
                    if (column < args.m) value.x = line[column];
                    if (column + 1 < args.m) value.y = line[column + 1];
                }
                y[(2 * t + h) * 32 + lane] = value;
            }

        float x[Tiles::n][4] = {}, v[Tiles::n][4] = {}, r[Tiles::m][4] = {};
        float largest[2] = {0, 0};  // of |v|
        float slopes[2] = {0, 0};
        bool failed[2] = {false, false};

        for (std::size_t k = 0; k < kinds.layers; ++k) {
            finish_copies();
            __syncthreads();  // the weights are there, and nobody reads those before them
            const LayerNumbers& layer = layers[k];
            const uint2* const weights = w + buffer * kW * kWeightWords;
            if (!args.tied) {
                buffer ^= 1;
                const std::size_t next = k + 1 < kinds.layers ? k + 1 : 0;
                fetch_weights<kW>(w + buffer * kW * kWeightWords,
                                  args.w + next * kW * kWeightWords);
            }

            float product[Tiles::m][4] = {};
            float back[2] = {0, 0};
            if (k > 0) {
                float by[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const Scale scale = scale_to(largest[h], kSignalExponent);
                    by[h] = scale.by;
                    back[h] = scale.back * args.units[0];
                }
#pragma unroll
                for (int d = 0; d < Tiles::deep_n; ++d) {
                    const float nothing[4] = {};
                    Factor factor;
                    if (2 * d + 1 < Tiles::n)
                        make_factor<kX>(v[2 * d], v[2 * d + 1], by, factor);
                    else
                        make_factor<kX>(v[2 * d], nothing, by, factor);
                    multiply_tiles<kX, kA, Tiles::m>(product, factor, a + d * Tiles::m * 32 + lane,
                                                     kOperatorWords);
                }
            }
            float size[2] = {0, 0};
            const float kept[2] = {layer.omega * slopes[0] / m, layer.omega * slopes[1] / m};
#pragma unroll
            for (int t = 0; t < Tiles::m; ++t)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const float2 measurement = y[(2 * t + h) * 32 + lane];
                    float* at = &r[t][2 * h];
                    at[0] = fmaf(product[t][2 * h], back[h], fmaf(kept[h], at[0], -measurement.x));
                    at[1] =
                        fmaf(product[t][2 * h + 1], back[h], fmaf(kept[h], at[1], -measurement.y));
                    size[h] += fabsf(at[0]) + fabsf(at[1]);
                }
            float unit[2], by[2], step[2];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float mean = quad_sum(size[h]) / m;
                failed[h] |= !isfinite(mean);
                unit[h] = threshold_unit(kinds, mean);
                const Scale scale = scale_to(mean, args.residual_exponent);
                by[h] = scale.by;
                step[h] = -layer.step * args.units[1 + (args.tied ? 0 : k)] * scale.back;
                slopes[h] = 0;
                largest[h] = 0;
            }
            Factor residual[Tiles::deep_m];
#pragma unroll
            for (int d = 0; d < Tiles::deep_m; ++d) {
                const float nothing[4] = {};
                if (2 * d + 1 < Tiles::m)
                    make_factor<kX>(r[2 * d], r[2 * d + 1], by, residual[d]);
                else
                    make_factor<kX>(r[2 * d], nothing, by, residual[d]);
            }
            const float next_beta = k + 1 < kinds.layers ? layers[k + 1].beta : 0.0F;
            const auto shrink_tiles = [&]<int kFirst, int kCount>() {
                float z[kCount][4] = {};
#pragma unroll
                for (int d = 0; d < Tiles::deep_m; ++d)
                    multiply_tiles<kX, kW, kCount>(z, residual[d],
                                                   weights + (d * Tiles::n + kFirst) * 32 + lane,
                                                   kWeightWords);
                float now[kCount][4];
#pragma unroll
                for (int t = 0; t < kCount; ++t)
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        z[t][e] = fmaf(step[e / 2], z[t][e], kinds.delta * v[kFirst + t][e]);
                shrink(kinds, layer, unit, z, now, slopes);
#pragma unroll
                for (int t = 0; t < kCount; ++t)
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        float& at = x[kFirst + t][e];
                        const float ahead = fmaf(next_beta, now[t][e] - at, now[t][e]);
                        at = now[t][e];
                        v[kFirst + t][e] = ahead;
                        largest[e / 2] = fmaxf(largest[e / 2], fabsf(ahead));
                    }
            };
            static_assert(Tiles::n == 13);
            shrink_tiles.template operator()<0, 4>();
            shrink_tiles.template operator()<4, 3>();
            shrink_tiles.template operator()<7, 3>();
            shrink_tiles.template operator()<10, 3>();
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                slopes[h] = quad_sum(slopes[h]);
                largest[h] = quad_max(largest[h]);
            }
            if (args.rows.every_layer != nullptr)
                store_rows(x, args.rows.every_layer + k * args.rows.layer_stride,
                           args.rows.x_stride, first, args.rows, args.n, failed);
        }
        store_rows(x, args.rows.x, args.rows.x_stride, first, args.rows, args.n, failed);
    }
    finish_copies();
}

}  // namespace resident

}  // namespace pibinn::cuda
