#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "infer/cuda/half_parts.cuh"

// What kernels of whole networks share: products of float16 fragments by one warp, sums over the
// lanes that hold a row, and copies to shared memory that run beside the work.

namespace pibinn::cuda {

__device__ inline void multiply_add(float (&sum)[4], const unsigned (&f)[4], uint2 g) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "r"(g.x), "r"(g.y));
}

__device__ inline unsigned bits(__half2 pair) { return *reinterpret_cast<unsigned*>(&pair); }

/// Two neighbouring tiles as the first factor of a product, in float16 parts.
struct Factor {
    unsigned high[4], low[4];
};
template <int kParts>
__device__ inline void make_factor(const float (&left)[4], const float (&right)[4],
                                   const float (&by)[2], Factor& factor) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
        const HalfPair l = split_pair(left[2 * h] * by[h], left[2 * h + 1] * by[h]);
        const HalfPair r = split_pair(right[2 * h] * by[h], right[2 * h + 1] * by[h]);
        factor.high[h] = bits(l.high);
        factor.high[2 + h] = bits(r.high);
        if constexpr (kParts == 2) {
            factor.low[h] = bits(l.low);
            factor.low[2 + h] = bits(r.low);
        }
    }
}

/// Of the four lanes that share two rows.
__device__ inline float quad_sum(float v) {
    v += __shfl_xor_sync(0xffffffffU, v, 1);
    return v + __shfl_xor_sync(0xffffffffU, v, 2);
}
__device__ inline float quad_max(float v) {
    v = fmaxf(v, __shfl_xor_sync(0xffffffffU, v, 1));
    return fmaxf(v, __shfl_xor_sync(0xffffffffU, v, 2));
}

__device__ inline void copy_async(uint4* to, const uint4* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from));
}
__device__ inline void finish_copies() { asm volatile("cp.async.wait_all;"); }

}  // namespace pibinn::cuda
