#pragma once

#include <cstdint>

#include "algebra/cuda/device.cuh"
#include "infer/cuda/block_network.cuh"
#include "infer/cuda/half_parts.cuh"
#include "infer/cuda/layer_numbers.cuh"
#include "infer/cuda/warp_products.cuh"
#include "infer/cuda/warpgroup.cuh"

// A warpgroup takes 64 signals through all layers. Sums of products on Hopper's matrix units stand
// where the first factor of the next product is read from, so that x, v and their float16 parts
// never leave the registers. The second factors lie in shared memory: the operator for good, the
// weights of a few layers in a ring that one thread keeps filled. The two warpgroups of a block
// share the ring and otherwise do not wait for each other, so that one multiplies while the other
// shrinks.

namespace pibinn::cuda {

namespace resident {

constexpr int kGroups = 2;
constexpr int kGroupThreads = 128;
constexpr int kThreadsOfBlock = kGroups * kGroupThreads;
constexpr int kRowsPerGroup = 64;
constexpr int kRowsPerBlock = kGroups * kRowsPerGroup;

/// Tiles of eight columns, and of sixteen where they are summed over.
struct Tiles {
    static constexpr int m = 7, n = 13;
    static constexpr int deep_m = (m + 1) / 2, deep_n = (n + 1) / 2;
    static constexpr int left = 7, right = n - left;  ///< the halves in which x is shrunk
};
constexpr std::size_t kMostRows = 8 * Tiles::m, kMostColumns = 8 * Tiles::n;
constexpr std::size_t kMostLayers = 400;  ///< whose numbers fit beside the matrices

constexpr unsigned kTileBytes = 128;  ///< eight by eight float16 numbers
constexpr unsigned kOperatorBytes = 2 * Tiles::deep_n * Tiles::m * kTileBytes;  ///< per part
constexpr unsigned kWeightBytes = 2 * Tiles::deep_m * Tiles::n * kTileBytes;

constexpr unsigned kRing = 4;   ///< layers whose weights have a place
constexpr unsigned kAhead = 2;  ///< layers before its use a layer's weights are asked for

/// How many float16 parts the operator, the weights and the activations have.
struct Parts {
    int a, w, x;
};

struct Args {
    BlockRows rows;
    unsigned m, n;
    LayerKinds kinds;
    const LayerNumbers* layers;
    const void *a, *w;   ///< parts of the operator; parts of each layer's weights
    const float* units;  ///< of the operator, then of each layer's weights
    bool tied;           ///< one set of weights for all layers
    int residual_exponent;
};

/// A second factor in shared memory, of `kWide` tiles.
template <int kWide, unsigned kPartBytes>
struct Matrix {
    std::uint64_t place;

    __device__ explicit Matrix(const void* at)
        : place(matrix_place(at, kWide * kTileBytes, kTileBytes)) {}
    /// From sixteen rows on and a tile on, of one part.
    __device__ std::uint64_t from(int deep, int tile, int part) const {
        return place + ((2 * deep * kWide + tile) * kTileBytes + part * kPartBytes) / 16;
    }
};

/// Adds one factor's products to all sums, the first time in place of what they were.
template <int kFactorParts, int kMatrixParts, bool kFresh, int kCount, int kWide, unsigned kBytes>
__device__ void multiply_parts(float (&sums)[kCount][4], const Factor& factor,
                               const Matrix<kWide, kBytes>& matrix, int deep, int tile) {
    multiply_group<kFresh>(sums, factor.high, matrix.from(deep, tile, 0));
    if constexpr (kFactorParts == 2)
        multiply_group<false>(sums, factor.low, matrix.from(deep, tile, 0));
    if constexpr (kMatrixParts == 2)
        multiply_group<false>(sums, factor.high, matrix.from(deep, tile, 1));
}

__device__ inline void store_rows(const float (&x)[Tiles::n][4], float* to, std::size_t stride,
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

/// The weights of all layers of all batches of a block, one after the other.
template <unsigned kBytes>
struct Ring {
    unsigned char* places;
    Gate *full, *empty;  ///< kRing of each
    const void* weights;
    unsigned layers, total;  ///< of the network; of the block's work

    __device__ unsigned char* place(unsigned index) const {
        return places + index % kRing * kBytes;
    }
    /// One thread asks for one layer, where the work is that long.
    __device__ void fetch(unsigned index) const {
        if (index >= total) return;
        const unsigned turn = index / kRing;
        if (turn > 0) empty[index % kRing].wait((turn - 1) & 1U);
        full[index % kRing].copy(
            place(index),
            static_cast<const unsigned char*>(weights) + std::size_t{index % layers} * kBytes,
            kBytes);
    }
    __device__ void wait(unsigned index) const { full[index % kRing].wait(index / kRing & 1U); }
    /// Once per warp.
    __device__ void release(unsigned index) const { empty[index % kRing].arrive(); }
};

template <int kA, int kW>
struct Shared {
    alignas(128) unsigned char a[kA * kOperatorBytes];
    unsigned char w[kRing * kW * kWeightBytes];
    float2 y[kThreadsOfBlock / 32][2 * Tiles::m][32];  ///< as each lane reads it
    Gate loaded, full[kRing], empty[kRing];
};

template <int kA, int kW, int kX, bool kSoft>
__global__ void __launch_bounds__(kThreadsOfBlock, 1) resident_kernel(Args args) {
    extern __shared__ uint4 raw[];
    auto& shared = *reinterpret_cast<Shared<kA, kW>*>(raw);
    auto* const layers = reinterpret_cast<LayerNumbers*>(&shared + 1);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const LayerKinds& kinds = args.kinds;
    const float per_m = 1 / static_cast<float>(args.m);
    const auto depth = static_cast<unsigned>(kinds.layers);
    const auto batches =
        static_cast<unsigned>((args.rows.rows + kRowsPerBlock - 1) / kRowsPerBlock);
    const unsigned own = (batches - blockIdx.x + gridDim.x - 1) / gridDim.x;
    const Ring<kW * kWeightBytes> ring{
        shared.w, shared.full,           shared.empty,
        args.w,   args.tied ? 1 : depth, args.tied ? 1 : own * depth};

    if (threadIdx.x == 0) {
        shared.loaded.open(1);
        for (unsigned i = 0; i < kRing; ++i) {
            shared.full[i].open(1);
            shared.empty[i].open(kThreadsOfBlock / 32);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        shared.loaded.copy(shared.a, args.a, kA * kOperatorBytes);
        for (unsigned i = 0; i < kAhead; ++i) ring.fetch(i);
    }
    for (std::size_t k = threadIdx.x; k < depth; k += kThreadsOfBlock) layers[k] = args.layers[k];
    __syncthreads();
    shared.loaded.wait(0);
    const Matrix<Tiles::m, kOperatorBytes> a(shared.a);
    float2(&y)[2 * Tiles::m][32] = shared.y[warp];
    unsigned index = 0;  // of the layer at hand, among all of the block's

    for (unsigned batch = blockIdx.x; batch < batches; batch += gridDim.x) {
        const std::size_t first = std::size_t{batch} * kRowsPerBlock + 16 * warp;
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
                y[2 * t + h][lane] = value;
            }

        float x[Tiles::n][4] = {}, v[Tiles::n][4] = {}, r[Tiles::m][4] = {};
        float largest[2] = {0, 0};  // of |v|
        float slopes[2] = {0, 0};
        bool failed[2] = {false, false};

        for (unsigned k = 0; k < depth; ++k, ++index) {
            if (threadIdx.x == 0 && !args.tied) ring.fetch(index + kAhead);
            const LayerNumbers& layer = layers[k];

            float product[Tiles::m][4] = {};
            float back[2] = {0, 0};
            const float nothing[4] = {};
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
                    Factor factor;
                    if (2 * d + 1 < Tiles::n)
                        make_factor<kX>(v[2 * d], v[2 * d + 1], by, factor);
                    else
                        make_factor<kX>(v[2 * d], nothing, by, factor);
                    begin_products();
                    multiply_parts<kX, kA, false>(product, factor, a, d, 0);
                }
                end_products();
                wait_for_products<0>();
                use_sums(product);
            }
            float size[2] = {0, 0};
            const float kept[2] = {layer.omega * slopes[0] * per_m,
                                   layer.omega * slopes[1] * per_m};
#pragma unroll
            for (int t = 0; t < Tiles::m; ++t)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const float2 measurement = y[2 * t + h][lane];
                    float* at = &r[t][2 * h];
                    at[0] = fmaf(product[t][2 * h], back[h], fmaf(kept[h], at[0], -measurement.x));
                    at[1] =
                        fmaf(product[t][2 * h + 1], back[h], fmaf(kept[h], at[1], -measurement.y));
                    size[h] += fabsf(at[0]) + fabsf(at[1]);
                }
            float unit[2], by[2], step[2];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                const float mean = quad_sum(size[h]) * per_m;
                failed[h] |= !isfinite(mean);
                unit[h] = threshold_unit(kinds, mean);
                const Scale scale = scale_to(mean, args.residual_exponent);
                by[h] = scale.by;
                step[h] = -layer.step * args.units[1 + (args.tied ? 0 : k)] * scale.back;
                slopes[h] = 0;
                largest[h] = 0;
            }
            if (!args.tied || index == 0) ring.wait(index);
            const Matrix<Tiles::n, kWeightBytes> w(args.tied ? shared.w : ring.place(index));
            Factor residual[Tiles::deep_m];
#pragma unroll
            for (int d = 0; d < Tiles::deep_m; ++d) {
                if (2 * d + 1 < Tiles::m)
                    make_factor<kX>(r[2 * d], r[2 * d + 1], by, residual[d]);
                else
                    make_factor<kX>(r[2 * d], nothing, by, residual[d]);
            }
            float z_left[Tiles::left][4], z_right[Tiles::right][4];
            begin_products();
            multiply_parts<kX, kW, true>(z_left, residual[0], w, 0, 0);
#pragma unroll
            for (int d = 1; d < Tiles::deep_m; ++d)
                multiply_parts<kX, kW, false>(z_left, residual[d], w, d, 0);
            end_products();
            multiply_parts<kX, kW, true>(z_right, residual[0], w, 0, Tiles::left);
#pragma unroll
            for (int d = 1; d < Tiles::deep_m; ++d)
                multiply_parts<kX, kW, false>(z_right, residual[d], w, d, Tiles::left);
            end_products();

            const float next_beta = k + 1 < depth ? layers[k + 1].beta : 0.0F;
            const auto shrink_tiles = [&]<int kFirst, int kCount>(float(&z)[kCount][4]) {
                float now[kCount][4];
#pragma unroll
                for (int t = 0; t < kCount; ++t)
#pragma unroll
                    for (int e = 0; e < 4; ++e)
                        z[t][e] = fmaf(step[e / 2], z[t][e], kinds.delta * v[kFirst + t][e]);
                shrink<kSoft>(kinds, layer, unit, z, now, slopes);
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
            wait_for_products<1>();
            use_sums(z_left);
            shrink_tiles.template operator()<0, Tiles::left>(z_left);
            wait_for_products<0>();
            use_sums(z_right);
            if (!args.tied && lane == 0) ring.release(index);
            shrink_tiles.template operator()<Tiles::left, Tiles::right>(z_right);
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
}

}  // namespace resident

}  // namespace pibinn::cuda
