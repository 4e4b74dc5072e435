#pragma once

#include <cstdint>

#include "algebra/cuda/device.cuh"
#include "infer/cuda/block_network.cuh"
#include "infer/cuda/half_parts.cuh"
#include "infer/cuda/layer_numbers.cuh"
#include "infer/cuda/sign_products.cuh"

// A block of eight warps takes 32 signals through all layers of a network of signs alone. Each warp
// computes its own columns of r and x, and keeps r and x in its registers. The float16 parts of all
// columns go through shared memory, as fragments: what a lane writes is what that lane of every
// warp reads. Signs are bits there, and become float16 numbers in registers; each such fragment
// serves two bands of sixteen signals and both parts.

namespace pibinn::cuda {

namespace signs {

constexpr int kWarps = 8;
constexpr int kThreadsPerBlock = kWarps * 32;
constexpr int kRowsPerBlock = 16 * kBands;

/// The kernel for so many tiles of eight columns of r and of x per warp.
template <int kM, int kN, int kX>
struct Shape {
    static constexpr SignTiles a() { return {kWarps, kM, kWarps * kN / 2}; }
    static constexpr SignTiles w() { return {kWarps, kN, kWarps * kM / 2}; }
    /// That hold the signs of one matrix.
    static constexpr unsigned sign_words = kWarps * kM * kN / 2 * kLanes;
    /// Of uint4: the parts of v, or those of r and beside them r itself. x, r and the sums for x
    /// need more registers at once than there are: r waits there, which costs no memory.
    static constexpr unsigned v_part_words = factor_word(kWarps * kN / 2, 0, kBands, 0, kX, 0);
    static constexpr unsigned r_part_words = factor_word(kWarps * kM / 2, 0, kBands, 0, kX, 0);
    static constexpr unsigned r_words = r_part_words + kBands * kM * kThreadsPerBlock;
    static constexpr unsigned factor_words = v_part_words > r_words ? v_part_words : r_words;
    static constexpr unsigned v_words = kBands * kN * kThreadsPerBlock;  ///< of float4
    static constexpr unsigned y_words = kBands * kM * kThreadsPerBlock;
    /// That share a multiprocessor, so that one works while the other waits: as registers allow.
    static constexpr int blocks = kN == 2 ? 2 : 1;
    static constexpr unsigned row_numbers = kRowsPerBlock * kWarps;
    static constexpr std::size_t shared_bytes(std::size_t layers) {
        return 16 * (factor_words + v_words + y_words) + 4 * 3 * sign_words + 4 * 3 * row_numbers +
               layers * sizeof(LayerNumbers);
    }
};

struct Args {
    BlockRows rows;
    unsigned m, n;
    LayerKinds kinds;
    const LayerNumbers* layers;
    const std::uint32_t *a, *w;  ///< signs of the operator; of each layer's weights
    float a_unit;                ///< the magnitude of the operator's entries
    const float* w_units;        ///< of each layer's weights
    bool tied;                   ///< one set of weights for all layers
    int residual_exponent;
};

template <unsigned kWords>
__device__ void fetch_signs(std::uint32_t* to, const std::uint32_t* from) {
    constexpr unsigned at_once = 4 * kThreadsPerBlock;
#pragma unroll
    for (unsigned first = 0; first < kWords; first += at_once) {
        const unsigned i = first + 4 * threadIdx.x;
        if (first + at_once <= kWords || i < kWords)
            copy_async(reinterpret_cast<uint4*>(to + i), reinterpret_cast<const uint4*>(from + i));
    }
}

/// A number of every row, of which each warp gives its own: lanes 0, 4 .. 28 hold rows l / 4.
__device__ inline void give(float* numbers, const float (&own)[kBands][2]) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane % 4 != 0) return;
#pragma unroll
    for (int b = 0; b < kBands; ++b)
#pragma unroll
        for (int h = 0; h < 2; ++h)
            numbers[(16 * b + 8 * h + lane / 4) * kWarps + warp] = own[b][h];
}
/// All warps' numbers of this lane's row: each of its four lanes reads two.
__device__ inline float2 take(const float* numbers, unsigned band, unsigned h) {
    const unsigned lane = threadIdx.x % 32, row = 16 * band + 8 * h + lane / 4;
    return reinterpret_cast<const float2*>(numbers + row * kWarps)[lane % 4];
}
__device__ inline float take_sum(const float* numbers, unsigned band, unsigned h) {
    const float2 two = take(numbers, band, h);
    return quad_sum(two.x + two.y);
}
__device__ inline float take_most(const float* numbers, unsigned band, unsigned h) {
    const float2 two = take(numbers, band, h);
    return quad_max(fmaxf(two.x, two.y));
}

/// `left`: how many columns there are from this lane's first one on.
template <int kTiles>
__device__ void store_rows(const float (&x)[kBands][kTiles][4], float* to, std::size_t stride,
                           std::size_t first_row, unsigned first_column, const BlockRows& rows,
                           int left, unsigned failed) {
#pragma unroll
    for (int b = 0; b < kBands; ++b)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
            const std::size_t row = first_row + 16 * b + 8 * h + threadIdx.x % 32 / 4;
            if (row >= rows.rows) continue;
            float* line = to + row * stride + first_column;
#pragma unroll
            for (int t = 0; t < kTiles; ++t)
#pragma unroll
                for (int c = 0; c < 2; ++c)
                    if (8 * t + c < left)
                        line[8 * t + c] =
                            (failed >> (2 * b + h) & 1) != 0 ? NAN : x[b][t][2 * h + c];
        }
}

/// y of this thread's tiles; zeros where there is none.
template <int kM>
__device__ void load_rows(const Args& args, std::size_t first_row, unsigned first_column, int left,
                          float4* y) {
#pragma unroll
    for (int b = 0; b < kBands; ++b)
#pragma unroll
        for (int t = 0; t < kM; ++t) {
            float value[4] = {};
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const std::size_t row = first_row + 16 * b + 8 * (e / 2) + threadIdx.x % 32 / 4;
                if (row < args.rows.rows && 8 * t + e % 2 < left)
                    value[e] = args.rows.y[row * args.rows.y_stride + first_column + 8 * t + e % 2];
            }
            y[(b * kM + t) * kThreadsPerBlock] =
                make_float4(value[0], value[1], value[2], value[3]);
        }
}

template <int kM, int kN, int kX>
__global__ void __launch_bounds__(kThreadsPerBlock, Shape<kM, kN, kX>::blocks)
    sign_kernel(Args args) {
    using Own = Shape<kM, kN, kX>;
    constexpr SignTiles a_tiles = Own::a(), w_tiles = Own::w();
    constexpr unsigned words = Own::sign_words;
    static_assert(a_tiles.words() == words && w_tiles.words() == words);
    const unsigned lane = threadIdx.x % 32;
    // The same in all lanes, which only so the compiler knows: otherwise it keeps ways for warps
    // that part, and 100 to 200 bytes of registers go to memory.
    const unsigned warp = __shfl_sync(0xffffffffU, threadIdx.x / 32, 0);
    const LayerKinds& kinds = args.kinds;
    const float per_m = 1.0F / static_cast<float>(args.m);

    extern __shared__ uint4 shared[];
    uint4* const factors = shared + lane;
    auto* const waiting_r = reinterpret_cast<float4*>(shared + Own::r_part_words) + threadIdx.x;
    auto* const all_v = reinterpret_cast<float4*>(shared + Own::factor_words);
    float4* const v = all_v + threadIdx.x;  // y and v of a tile: one float4 per thread
    float4* const y = all_v + Own::v_words + threadIdx.x;
    auto* const a = reinterpret_cast<std::uint32_t*>(all_v + Own::v_words + Own::y_words);
    std::uint32_t* const w = a + words;
    auto* const sizes = reinterpret_cast<float*>(w + 2 * words);
    float* const most = sizes + Own::row_numbers;
    float* const counts = most + Own::row_numbers;
    auto* const layers = reinterpret_cast<LayerNumbers*>(counts + Own::row_numbers);

    // This lane's first column of r and of x, and how many there are from there on.
    const unsigned r_column = a_tiles.output(warp, 0, lane),
                   x_column = w_tiles.output(warp, 0, lane);
    const int r_left = static_cast<int>(args.m) - static_cast<int>(r_column);
    const int x_left = static_cast<int>(args.n) - static_cast<int>(x_column);
    // No more than the steps of the factors; none for warps that have no columns.
    const unsigned a_groups = 8 * kM * warp < args.m ? a_tiles.groups_for(args.n) : 0;
    const unsigned w_groups = 8 * kN * warp < args.n ? w_tiles.groups_for(args.m) : 0;

    for (std::size_t k = threadIdx.x; k < kinds.layers; k += kThreadsPerBlock) {
        layers[k] = args.layers[k];
        layers[k].step *= -args.w_units[args.tied ? 0 : k];
    }
    fetch_signs<words>(a, args.a);
    fetch_signs<words>(w, args.w);
    finish_copies();
    __syncthreads();
    const auto depth = static_cast<unsigned>(kinds.layers);
    unsigned buffer = 0;  // that holds the weights of the layer at hand

    for (std::size_t batch = blockIdx.x; batch * kRowsPerBlock < args.rows.rows;
         batch += gridDim.x) {
        const std::size_t first = batch * kRowsPerBlock;
        load_rows<kM>(args, first, r_column, r_left, y);
#pragma unroll
        for (int t = 0; t < kBands * kN; ++t) v[t * kThreadsPerBlock] = make_float4(0, 0, 0, 0);
        float x[kBands][kN][4] = {}, r[kBands][kM][4] = {};
        float back[kBands][2] = {}, slopes[kBands][2] = {};
        unsigned failed = 0;  // a bit per row: band, half

        for (unsigned k = 0; k < depth; ++k) {
            const LayerNumbers& layer = layers[k];
            const std::uint32_t* const weights = w + buffer * words;
            if (!args.tied) {  // nobody reads the other buffer any more
                buffer ^= 1;
                const unsigned next = k + 1 < depth ? k + 1 : 0;
                fetch_signs<words>(w + buffer * words, args.w + next * words);
            }

            float product[kBands][kM][4] = {};
            if (k > 0 && a_groups > 0)
                multiply_signs<kX>(product, factors, a + a_tiles.word(warp, 0, lane), a_groups);
            float size[kBands][2] = {};
#pragma unroll
            for (int b = 0; b < kBands; ++b) {
                const float kept[2] = {layer.omega * slopes[b][0] * per_m,
                                       layer.omega * slopes[b][1] * per_m};
#pragma unroll
                for (int t = 0; t < kM; ++t) {
                    const float4 of_tile = y[(b * kM + t) * kThreadsPerBlock];
                    const float measured[4] = {of_tile.x, of_tile.y, of_tile.z, of_tile.w};
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        float& at = r[b][t][e];
                        const float value = fmaf(product[b][t][e], back[b][e / 2],
                                                 fmaf(kept[e / 2], at, -measured[e]));
                        at = 8 * t + e % 2 < r_left ? value : 0.0F;
                        size[b][e / 2] += fabsf(at);
                    }
                }
                size[b][0] = quad_sum(size[b][0]);
                size[b][1] = quad_sum(size[b][1]);
            }
            give(sizes, size);
            finish_copies();
            __syncthreads();  // all have read the parts of v

            float unit[kBands][2], step[kBands][2];
#pragma unroll
            for (int b = 0; b < kBands; ++b) {
                float by[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const float mean = take_sum(sizes, b, h) * per_m;
                    failed |= isfinite(mean) ? 0U : 1U << (2 * b + h);
                    unit[b][h] = threshold_unit(kinds, mean);
                    const Scale scale = scale_to(mean, args.residual_exponent);
                    by[h] = scale.by;
                    step[b][h] = layer.step * scale.back;
                    slopes[b][h] = 0;
                }
#pragma unroll
                for (int d = 0; d < kM / 2; ++d) {
                    Factor factor;
                    make_factor<kX>(r[b][2 * d], r[b][2 * d + 1], by, factor);
                    write_factor<kX>(factors, kM / 2 * warp + d, b, factor);
                }
#pragma unroll
                for (int t = 0; t < kM; ++t)
                    waiting_r[(b * kM + t) * kThreadsPerBlock] =
                        make_float4(r[b][t][0], r[b][t][1], r[b][t][2], r[b][t][3]);
            }
            __syncthreads();  // the parts of r are there, and so are the weights

            float z[kBands][kN][4] = {};
            if (w_groups > 0)
                multiply_signs<kX>(z, factors, weights + w_tiles.word(warp, 0, lane), w_groups);
            float largest[kBands][2] = {};  // of |v|
            const float next_beta = k + 1 < depth ? layers[k + 1].beta : 0.0F;
            constexpr int at_once = kN < 4 ? kN : 4;
#pragma unroll
            for (int b = 0; b < kBands; ++b)
#pragma unroll
                for (int from = 0; from < kN; from += at_once) {
                    float before[at_once][4], now[at_once][4];
#pragma unroll
                    for (int t = 0; t < at_once; ++t) {
                        const float4 of_tile = v[(b * kN + from + t) * kThreadsPerBlock];
                        const float ahead[4] = {of_tile.x, of_tile.y, of_tile.z, of_tile.w};
#pragma unroll
                        for (int e = 0; e < 4; ++e) {
                            const float value =
                                fmaf(step[b][e / 2], z[b][from + t][e], kinds.delta * ahead[e]);
                            before[t][e] = 8 * (from + t) + e % 2 < x_left ? value : 0.0F;
                        }
                    }
                    shrink(kinds, layer, unit[b], before, now, slopes[b]);
#pragma unroll
                    for (int t = 0; t < at_once; ++t) {
                        float(&ahead)[4] = z[b][from + t];  // takes the place of the sums
#pragma unroll
                        for (int e = 0; e < 4; ++e) {
                            float& at = x[b][from + t][e];
                            ahead[e] = fmaf(next_beta, now[t][e] - at, now[t][e]);
                            at = now[t][e];
                            largest[b][e / 2] = fmaxf(largest[b][e / 2], fabsf(ahead[e]));
                        }
                        v[(b * kN + from + t) * kThreadsPerBlock] =
                            make_float4(ahead[0], ahead[1], ahead[2], ahead[3]);
                    }
                }
            if (args.rows.every_layer != nullptr)
                store_rows(x, args.rows.every_layer + k * args.rows.layer_stride,
                           args.rows.x_stride, first, x_column, args.rows, x_left, failed);

#pragma unroll
            for (int b = 0; b < kBands; ++b)
#pragma unroll
                for (int t = 0; t < kM; ++t) {
                    const float4 of_tile = waiting_r[(b * kM + t) * kThreadsPerBlock];
                    r[b][t][0] = of_tile.x;
                    r[b][t][1] = of_tile.y;
                    r[b][t][2] = of_tile.z;
                    r[b][t][3] = of_tile.w;
                }
#pragma unroll
            for (int b = 0; b < kBands; ++b)
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    largest[b][h] = quad_max(largest[b][h]);
                    slopes[b][h] = quad_sum(slopes[b][h]);
                }
            give(most, largest);
            give(counts, slopes);
            __syncthreads();  // all have read the parts of r
#pragma unroll
            for (int b = 0; b < kBands; ++b) {
                float by[2];
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    const Scale scale = scale_to(take_most(most, b, h), kSignalExponent);
                    by[h] = scale.by;
                    back[b][h] = scale.back * args.a_unit;
                    slopes[b][h] = take_sum(counts, b, h);
                }
#pragma unroll
                for (int d = 0; d < kN / 2; ++d) {
                    Factor factor;
                    make_factor<kX>(z[b][2 * d], z[b][2 * d + 1], by, factor);
                    write_factor<kX>(factors, kN / 2 * warp + d, b, factor);
                }
            }
            __syncthreads();  // the parts of v are there
        }
        store_rows(x, args.rows.x, args.rows.x_stride, first, x_column, args.rows, x_left, failed);
    }
    finish_copies();
}

}  // namespace signs

}  // namespace pibinn::cuda
