#pragma once

#include <cstdint>

#include "algebra/cuda/device.cuh"

// What Hopper's warpgroups of four warps are told with: products whose second factor is in shared
// memory, and copies that arrive there by themselves. The compiler knows none of it but as text.

namespace pibinn::cuda {

__device__ inline unsigned shared_address(const void* at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

/// Where a product finds its second factor: columns of eight by rows of eight float16 numbers, 128
/// bytes each. `next_deep` bytes lead to the eight that are summed over next, `next_wide` to the
/// eight outputs beside them.
__device__ inline std::uint64_t matrix_place(const void* at, unsigned next_deep,
                                             unsigned next_wide) {
    const auto field = [](unsigned bytes) { return std::uint64_t{(bytes & 0x3FFFFU) >> 4}; };
    return field(shared_address(at)) | field(next_deep) << 16 | field(next_wide) << 32;
}

/// Before products that read registers which were written since the last ones.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// The products since the last call become one group.
__device__ inline void end_products() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until no more than the last `kGroups` groups are under way.
template <int kGroups>
__device__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
}
/// Keeps what uses these sums behind the wait before it.
template <int kTiles>
__device__ void use_sums(float (&sums)[kTiles][4]) {
#pragma unroll
    for (int t = 0; t < kTiles; ++t)
#pragma unroll
        for (int e = 0; e < 4; ++e) asm volatile("" : "+f"(sums[t][e])::"memory");
}

#define PIBINN_TILE(by, t) by(sums[t][0]), by(sums[t][1]), by(sums[t][2]), by(sums[t][3])
#define PIBINN_SIX_TILES(by)                                                        \
    PIBINN_TILE(by, 0), PIBINN_TILE(by, 1), PIBINN_TILE(by, 2), PIBINN_TILE(by, 3), \
        PIBINN_TILE(by, 4), PIBINN_TILE(by, 5)
#define PIBINN_FACTOR "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(place)
#define PIBINN_MULTIPLY_56(add)                                                           \
    "{\n.reg .pred add;\nsetp.ne.u32 add, " add                                           \
    ", 0;\n"                                                                              \
    "wgmma.mma_async.sync.aligned.m64n56k16.f32.f16.f16 "                                 \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22," \
    "%23,%24,%25,%26,%27}, {%28,%29,%30,%31}, %32, add, 1, 1, 0;\n}\n"
#define PIBINN_MULTIPLY_48(add)                                                           \
    "{\n.reg .pred add;\nsetp.ne.u32 add, " add                                           \
    ", 0;\n"                                                                              \
    "wgmma.mma_async.sync.aligned.m64n48k16.f32.f16.f16 "                                 \
    "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22," \
    "%23}, {%24,%25,%26,%27}, %28, add, 1, 1, 0;\n}\n"

/// sums = factor times the sixteen rows at `place`, 64 signals of a warpgroup; or += that.
template <bool kFresh>
__device__ void multiply_group(float (&sums)[7][4], const unsigned (&f)[4], std::uint64_t place) {
    if constexpr (kFresh)
        asm volatile(PIBINN_MULTIPLY_56("0")
                     : PIBINN_SIX_TILES("=f"), PIBINN_TILE("=f", 6)
                     : PIBINN_FACTOR);
    else
        asm volatile(PIBINN_MULTIPLY_56("1")
                     : PIBINN_SIX_TILES("+f"), PIBINN_TILE("+f", 6)
                     : PIBINN_FACTOR);
}
template <bool kFresh>
__device__ void multiply_group(float (&sums)[6][4], const unsigned (&f)[4], std::uint64_t place) {
    if constexpr (kFresh)
        asm volatile(PIBINN_MULTIPLY_48("0") : PIBINN_SIX_TILES("=f") : PIBINN_FACTOR);
    else
        asm volatile(PIBINN_MULTIPLY_48("1") : PIBINN_SIX_TILES("+f") : PIBINN_FACTOR);
}
#undef PIBINN_MULTIPLY_48
#undef PIBINN_MULTIPLY_56
#undef PIBINN_FACTOR
#undef PIBINN_SIX_TILES
#undef PIBINN_TILE

/// Counts arrivals of threads and of copied bytes; a phase ends when all are there.
class Gate {
public:
    __device__ void open(unsigned arrivals) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&word_)),
                     "r"(arrivals));
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&word_))
                     : "memory");
    }
    /// Of phases that alternate between 0 and 1.
    __device__ void wait(unsigned phase) {
        asm volatile(
            "{\n.reg .pred done;\nagain:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
            "@!done bra again;\n}\n" ::"r"(shared_address(&word_)),
            "r"(phase)
            : "memory");
    }
    /// Copies to shared memory, and arrives when all is there. Bytes by sixteens.
    __device__ void copy(void* to, const void* from, unsigned bytes) {
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&word_)),
            "r"(bytes)
            : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
            "[%3];" ::"r"(shared_address(to)),
            "l"(from), "r"(bytes), "r"(shared_address(&word_))
            : "memory");
    }

private:
    std::uint64_t word_;
};

}  // namespace pibinn::cuda
