// What instruction sets do each in their own way. This file, byte_primitives-inl.hpp for what works
// on bytes and piece_primitives-inl.hpp for learned shrinks alone have intrinsics, assembler and
// questions about the target. Each primitive has a portable twin in Highway's operations that gives
// the same bits (namespace portable); a target without one of its own takes the twin.
// tests/infer/primitives_test.cpp compares them. Included once for every target.

#if defined(PIBINN_INFER_PRIMITIVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_PRIMITIVES_INL
#undef PIBINN_INFER_PRIMITIVES_INL
#else
#define PIBINN_INFER_PRIMITIVES_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "infer/kernels/kernels.hpp"

// Three families of targets. AVX-512 and AVX2 on x86, NEON on 64-bit ARM. The others (SSE, SCALAR)
// have the tile kernel alone: compiling the vector kernel takes long, and processors without AVX2
// are rare.
#undef PIBINN_AVX512
#undef PIBINN_AVX2
#undef PIBINN_NEON
#undef PIBINN_VECTOR_KERNEL
#define PIBINN_AVX512 (HWY_TARGET <= HWY_AVX3)
#define PIBINN_AVX2 (!PIBINN_AVX512 && HWY_TARGET <= HWY_AVX2)
#define PIBINN_NEON (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64)
/// Whether columns of signs are multiplied by lookups: it takes masks of bytes.
#undef PIBINN_SIGN_COLUMNS
#define PIBINN_SIGN_COLUMNS PIBINN_AVX512
/// Whether the target has the vector kernel: tables of signed sums in registers.
#define PIBINN_VECTOR_KERNEL (PIBINN_AVX512 || PIBINN_AVX2 || PIBINN_NEON)

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How signs are packed, and how many words of tables registers hold at a time. The vector kernel's
// tables have as many entries as two registers have lanes (AVX-512: 32, NEON: 8) or one (AVX2: 8,
// whose one-register lookup costs less than two and a choice). Other targets keep their tables in
// memory, where 16 entries are best.
#if PIBINN_AVX512
constexpr SignLayout kLayout{5, 6, 16, 96};
constexpr std::size_t kPassWords = 2;
#elif PIBINN_AVX2
constexpr SignLayout kLayout{3, 10, 8};
constexpr std::size_t kPassWords = 1;
#elif PIBINN_NEON
constexpr SignLayout kLayout{3, 10, 4};
constexpr std::size_t kPassWords = 1;
#else
constexpr SignLayout kLayout{4, 8, 4};
#endif
constexpr std::size_t kEntries = std::size_t{1} << kLayout.rows_per_group;

/// Whether the last pass over the tables goes on to x, without q in memory. It needs registers
/// beside the tables: on AVX2 it made no difference.
constexpr bool kFusesEntries = PIBINN_AVX512;
/// Whether one instruction moves the chosen lanes of a vector to its front. Without it, compressing
/// registers took half of a solve.
constexpr bool kCompressesLanes = PIBINN_AVX512;

/// x of a layer, and where it is not zero.
template <class V>
struct Activated {
    V x;
    hn::Mask<hn::DFromV<V>> alive;

    explicit HWY_INLINE Activated(V x_) : x(x_), alive(hn::Ne(x_, hn::Zero(hn::DFromV<V>()))) {}
    HWY_INLINE Activated(V x_, hn::Mask<hn::DFromV<V>> alive_) : x(x_), alive(alive_) {}
};

namespace portable {

/// z less tau, towards zero.
template <class V>
HWY_INLINE Activated<V> SoftThreshold(V z, V tau) {
    return Activated<V>(hn::Sub(z, hn::Min(hn::Max(z, hn::Neg(tau)), tau)));
}

/// Adds where the mask is set.
template <class V>
HWY_INLINE V AddWhere(hn::Mask<hn::DFromV<V>> adds, V sum, V more) {
    return hn::Add(sum, hn::IfThenElseZero(adds, more));
}

}  // namespace portable

#if PIBINN_AVX512

template <class V>
HWY_INLINE V AddWhere(hn::Mask<hn::DFromV<V>> adds, V sum, V more) {
    if constexpr (!hwy::IsFloat<hn::TFromV<V>>()) {
        static_assert(sizeof(hn::TFromV<V>) == 4);
        if constexpr (sizeof(V) == 64)
            return V{_mm512_mask_add_epi32(sum.raw, adds.raw, sum.raw, more.raw)};
        else if constexpr (sizeof(V) == 32)
            return V{_mm256_mask_add_epi32(sum.raw, adds.raw, sum.raw, more.raw)};
        else
            return V{_mm_mask_add_epi32(sum.raw, adds.raw, sum.raw, more.raw)};
    } else if constexpr (sizeof(V) == 64) {
        return V{_mm512_mask_add_ps(sum.raw, adds.raw, sum.raw, more.raw)};
    } else if constexpr (sizeof(V) == 32) {
        return V{_mm256_mask_add_ps(sum.raw, adds.raw, sum.raw, more.raw)};
    } else {
        return V{_mm_mask_add_ps(sum.raw, adds.raw, sum.raw, more.raw)};
    }
}

/// vrangeps takes an instruction less, but with it there is so much arithmetic on floats of 512
/// bits that the processor lowers its clock (3.4 to 2.8 GHz on an Ice Lake). For the same reason
/// absolute values are compared as integers, of which those of NaN are the largest. In assembler:
/// of the intrinsics g++ 12 made three copies of tau and two of the sign, more than registers hold.
template <class V>
HWY_INLINE Activated<V> SoftThreshold(V z, V tau) {
    V size = hn::AndNot(hn::SignBit(hn::DFromV<V>()), z);
    hn::Mask<hn::DFromV<V>> alive;
    asm("vpcmpgtd %2, %1, %0" : "=Yk"(alive.raw) : "v"(size.raw), "v"(tau.raw));
    // (size ^ z) | tau: tau with the sign of z.
    asm("vpternlogd $0xBE, %2, %1, %0" : "+v"(size.raw) : "v"(z.raw), "v"(tau.raw));
    if constexpr (sizeof(V) == 64)
        return {V{_mm512_maskz_sub_ps(alive.raw, z.raw, size.raw)}, alive};
    else if constexpr (sizeof(V) == 32)
        return {V{_mm256_maskz_sub_ps(alive.raw, z.raw, size.raw)}, alive};
    else
        return {V{_mm_maskz_sub_ps(alive.raw, z.raw, size.raw)}, alive};
}

#else

using portable::AddWhere;
using portable::SoftThreshold;

#endif

/// The larger of two absolute values. Compared as integers, of which those of NaN are the largest,
/// whichever comes first; and arithmetic on floats lowers the clock: with vrangeps, an instruction
/// less on AVX-512, a batch of 50 x 100 took 12 % more.
template <class V>
HWY_INLINE V LargerAbs(V a, V b) {
    const hn::DFromV<V> d;
    const hn::RebindToSigned<decltype(d)> di;
    return hn::BitCast(d, hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
}

namespace portable {

/// A bit per lane.
template <class DN>
HWY_INLINE std::uint64_t MaskBits(DN d, hn::Mask<DN> mask) {
    std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    return bytes[0] | static_cast<std::uint64_t>(bytes[1]) << 8U;
}

}  // namespace portable

#if PIBINN_AVX512

template <class DN>
HWY_INLINE std::uint64_t MaskBits(DN, hn::Mask<DN> mask) {
    return mask.raw & ((std::uint64_t{1} << hn::MaxLanes(DN())) - 1);
}

#else

using portable::MaskBits;

#endif

/// Hides from the compiler where an address comes from, so that it is kept in one register and not
/// calculated anew from its parts. Each use says what g++ 12 did without it.
template <class T>
HWY_INLINE void HideOrigin(T*& address) {
    asm("" : "+r"(address));
}

#if PIBINN_VECTOR_KERNEL

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t kLanes = hn::MaxLanes(D());
static_assert(kLayout.partial_sums == kLanes);

// The same for vectors, which stand in registers from here on; two of them both at this point.
#if PIBINN_NEON
#define PIBINN_VECTOR_REGISTER "+w"
#else
#define PIBINN_VECTOR_REGISTER "+v"
#endif
template <class A>
HWY_INLINE void HoldInRegister(A& a) {
    asm("" : PIBINN_VECTOR_REGISTER(a.raw));
}
template <class A, class B>
HWY_INLINE void HoldInRegisters(A& a, B& b) {
    asm("" : PIBINN_VECTOR_REGISTER(a.raw), PIBINN_VECTOR_REGISTER(b.raw));
}
#undef PIBINN_VECTOR_REGISTER

/// All signed sums of a group of rows, as SignLayout numbers them.
constexpr std::size_t kTableVectors = kEntries / kLanes;
static_assert(kTableVectors == 1 || kTableVectors == 2);
struct GroupTable {
    V entries[kTableVectors];

    HWY_INLINE GroupTable() {}  // an implicit one would not be compiled for the target
};

namespace portable {

template <int kFrom>
HWY_INLINE V LookUp(const GroupTable& table, VU word) {
    const VU index = hn::ShiftRight<kFrom>(word);
    const auto lane = hn::IndicesFromVec(D(), hn::And(index, hn::Set(DU(), kLanes - 1)));
    const V entry = hn::TableLookupLanes(table.entries[0], lane);
    if constexpr (kTableVectors == 1) return entry;
    const auto second = hn::TestBit(index, hn::Set(DU(), kLanes));
    return hn::IfThenElse(hn::RebindMask(D(), second),
                          hn::TableLookupLanes(table.entries[kTableVectors - 1], lane), entry);
}

}  // namespace portable

/// The entry that the bits of each lane from kFrom on name; the bits above these do not count.
#if PIBINN_AVX512
template <int kFrom>
HWY_INLINE V LookUp(const GroupTable& table, VU word) {
    // Rotated, not shifted: Zen 4 shifts on the two of its four ports that permute, but rotates on
    // others. A lookup and its sum take 1.46 cycles instead of 1.94.
    const __m512i index = kFrom == 0 ? word.raw : _mm512_ror_epi32(word.raw, kFrom);
    return V{_mm512_permutex2var_ps(table.entries[0].raw, index, table.entries[1].raw)};
}
#elif PIBINN_AVX2
template <int kFrom>
HWY_INLINE V LookUp(const GroupTable& table, VU word) {
    return V{_mm256_permutevar8x32_ps(table.entries[0].raw, hn::ShiftRight<kFrom>(word).raw)};
}
#elif PIBINN_NEON
template <int kFrom>
HWY_INLINE V LookUp(const GroupTable& table, VU word) {
    // Entry e stands in bytes 4 e to 4 e + 3 of the two registers.
    const VU index = hn::ShiftRight<kFrom>(word);
    const uint32x4_t entry = vandq_u32(index.raw, vdupq_n_u32(kEntries - 1));
    const uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100), entry, vdupq_n_u32(0x04040404));
    const uint8x16x2_t both = {
        {vreinterpretq_u8_f32(table.entries[0].raw), vreinterpretq_u8_f32(table.entries[1].raw)}};
    return V{vreinterpretq_f32_u8(vqtbl2q_u8(both, vreinterpretq_u8_u32(bytes)))};
}
#endif

/// p[l] += p[l + half], halving down to one: the order in which a tile adds its partial sums.
template <class VN>
HWY_INLINE float SumLanes(VN v) {
    const hn::DFromV<VN> d;
    if constexpr (hn::MaxLanes(d) > 4) {
        const hn::Half<decltype(d)> half;
        return SumLanes(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    } else {
        const VN sum = hn::Add(v, hn::Shuffle1032(v));
        return hn::GetLane(hn::Add(sum, hn::Shuffle2301(sum)));
    }
}

namespace portable {

template <bool kFirst>
HWY_INLINE V AddLargerOfPairs(V sum, V abs) {
    const V larger = LargerAbs(abs, hn::Shuffle2301(abs));
    return hn::Add(sum, hn::OddEven(hn::Zero(D()), larger));
}
template <bool kFirst>
HWY_INLINE V AddLargerOfPairs(V sum, hn::Mask<D> butterfly, V abs) {
    const V larger = LargerAbs(abs, hn::Shuffle2301(abs));
    const V pairs = hn::OddEven(hn::Zero(D()), larger);
    return hn::Add(sum, hn::IfThenElse(butterfly, pairs, abs));
}

/// to[4 t] = finish(the sum of row t's lanes), for `count` rows; the numbers between are anything.
template <std::size_t kRows, class Finish>
HWY_INLINE void SumEachRow(const float (&rows)[kRows][kLanes], std::size_t count,
                           const Finish& finish, float* to) {
    const hn::CappedTag<float, 4> four;
    for (std::size_t row = 0; row < count; ++row) {
        const float sum = SumLanes(hn::Load(D(), rows[row]));
        to[4 * row] = hn::GetLane(finish(four, hn::Set(four, sum)));
    }
}

}  // namespace portable

// AddLargerOfPairs: of two neighbours the larger is added to the first one's sum, and nothing to
// the second one's; outside `butterfly` every lane is added to its own. With kFirst the sum is
// zero. All of `abs` is not negative.
#if PIBINN_AVX512

constexpr __mmask16 kFirstOfPair = 0x5555;

template <bool kFirst>
HWY_INLINE V AddPairs(__mmask16 adds, V sum, V larger) {
    if constexpr (kFirst)
        return V{_mm512_maskz_mov_ps(adds, larger.raw)};
    else
        return V{_mm512_mask_add_ps(sum.raw, adds, sum.raw, larger.raw)};
}
template <bool kFirst>
HWY_INLINE V AddLargerOfPairs(V sum, V abs) {
    return AddPairs<kFirst>(kFirstOfPair, sum, LargerAbs(abs, hn::Shuffle2301(abs)));
}
template <bool kFirst>
HWY_INLINE V AddLargerOfPairs(V sum, hn::Mask<D> butterfly, V abs) {
    // Alone, a row is compared with zero.
    const V other{_mm512_maskz_permute_ps(butterfly.raw, abs.raw, 0xB1)};
    return AddPairs<kFirst>(static_cast<__mmask16>(kFirstOfPair | ~butterfly.raw), sum,
                            LargerAbs(abs, other));
}

/// Three rows together, in blocks of four lanes: half the work of one after the other.
template <std::size_t kRows, class Finish>
HWY_INLINE void SumEachRow(const float (&rows)[kRows][kLanes], std::size_t, const Finish& finish,
                           float* to) {
    static_assert(kRows == 3);
    // Two blocks of a and two of b; then one block of each.
    const auto halves = [](V a, V b) HWY_ATTR {
        return hn::Add(V{_mm512_shuffle_f32x4(a.raw, b.raw, 0x44)},
                       V{_mm512_shuffle_f32x4(a.raw, b.raw, 0xEE)});
    };
    const V c = hn::Load(D(), rows[2]);
    const V ab = halves(hn::Load(D(), rows[0]), hn::Load(D(), rows[1]));
    const V cc = halves(c, c);
    V sum = hn::Add(V{_mm512_shuffle_f32x4(ab.raw, cc.raw, 0x88)},
                    V{_mm512_shuffle_f32x4(ab.raw, cc.raw, 0xDD)});
    sum = hn::Add(sum, hn::Shuffle1032(sum));
    sum = hn::Add(sum, hn::Shuffle2301(sum));
    hn::Store(finish(D(), sum), D(), to);
}

#else

using portable::AddLargerOfPairs;
using portable::SumEachRow;

#endif

#endif  // PIBINN_VECTOR_KERNEL
}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
