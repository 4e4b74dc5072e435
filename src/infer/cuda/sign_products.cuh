#pragma once

#include <cstdint>

#include "infer/cuda/warp_products.cuh"
#include "infer/sign_fragments.hpp"

// Products of activations and signs by one warp, as infer/sign_fragments.hpp lays them out in
// shared memory.

namespace pibinn::cuda {

namespace signs {

constexpr int kBands = 2;  ///< of sixteen signals; each fragment of signs serves all

template <int kX>
__device__ void write_factor(uint4* factors, unsigned step, unsigned band, const Factor& factor) {
    const unsigned(&high)[4] = factor.high;
    factors[factor_word(step, band, kBands, 0, kX, 0)] =
        make_uint4(high[0], high[1], high[2], high[3]);
    if constexpr (kX == 2) {
        const unsigned(&low)[4] = factor.low;
        factors[factor_word(step, band, kBands, 1, kX, 0)] =
            make_uint4(low[0], low[1], low[2], low[3]);
    }
}

template <int kX>
__device__ void read_factors(const uint4* factors, unsigned step, Factor (&to)[kBands]) {
    const auto read = [](const uint4& from, unsigned(&words)[4]) {
        words[0] = from.x;
        words[1] = from.y;
        words[2] = from.z;
        words[3] = from.w;
    };
#pragma unroll
    for (int b = 0; b < kBands; ++b) {
        read(factors[factor_word(step, b, kBands, 0, kX, 0)], to[b].high);
        if constexpr (kX == 2) read(factors[factor_word(step, b, kBands, 1, kX, 0)], to[b].low);
    }
}

/// sign_pair of infer/sign_fragments.hpp, whose two operations on bits are one here: the compiler
/// makes two of them where both constants are known to it.
__device__ inline unsigned signs_of(std::uint32_t word, unsigned fragment, unsigned i) {
    unsigned pair;
    asm("lop3.b32 %0, %1, %2, %3, 0xEA;"  // (1 & 2) | 3
        : "=r"(pair)
        : "r"(word << (2 * fragment + i)), "r"(kSignMask), "r"(kOnes));
    return pair;
}

/// A warp's tiles of a product over `groups` groups of steps. `factors` and `words` are those of
/// the lane. Factors are read one step ahead.
template <int kX, int kTiles>
__device__ void multiply_signs(float (&sums)[kBands][kTiles][4], const uint4* factors,
                               const std::uint32_t* words, unsigned groups) {
    constexpr int steps = static_cast<int>(kFragmentsPerWord) / kTiles;
    // Sums side by side, so that no product waits for the one before it.
    constexpr int side_by_side = kTiles < 4 ? kTiles : 4;
    Factor factor[kBands];
    read_factors<kX>(factors, 0, factor);
    std::uint32_t word = words[0];
#pragma unroll 1  // two at once take more registers than there are
    for (unsigned g = 0; g < groups; ++g) {
        const unsigned next_group = g + 1 < groups ? g + 1 : g;
        const std::uint32_t next_word = words[next_group * kLanes];
#pragma unroll
        for (int s = 0; s < steps; ++s) {
            Factor next[kBands];
            read_factors<kX>(factors, s + 1 < steps ? g * steps + s + 1 : next_group * steps, next);
#pragma unroll
            for (int first = 0; first < kTiles; first += side_by_side) {
                uint2 signs[side_by_side];
#pragma unroll
                for (int t = 0; t < side_by_side; ++t) {
                    const unsigned fragment = s * kTiles + first + t;
                    signs[t] = {signs_of(word, fragment, 0), signs_of(word, fragment, 1)};
#pragma unroll
                    for (int b = 0; b < kBands; ++b)
                        multiply_add(sums[b][first + t], factor[b].high, signs[t]);
                }
                if constexpr (kX == 2) {
#pragma unroll
                    for (int t = 0; t < side_by_side; ++t)
#pragma unroll
                        for (int b = 0; b < kBands; ++b)
                            multiply_add(sums[b][first + t], factor[b].low, signs[t]);
                }
            }
#pragma unroll
            for (int b = 0; b < kBands; ++b) factor[b] = next[b];
        }
        word = next_word;
    }
}

}  // namespace signs

}  // namespace pibinn::cuda
