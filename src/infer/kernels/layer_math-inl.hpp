// What a layer does beside its products, for vectors of any length. Both ways of solving use it, so
// that both round alike. Included once for every target.

#if defined(PIBINN_INFER_LAYER_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_LAYER_MATH_INL
#undef PIBINN_INFER_LAYER_MATH_INL
#else
#define PIBINN_INFER_LAYER_MATH_INL
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include "infer/packed_part.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// As many rows to a table as a register's lanes can be told apart by: 32 entries in two registers
// of AVX-512, 8 in one of AVX2. Smaller vectors keep their tables in memory, where 16 entries are
// best.
#if HWY_TARGET <= HWY_AVX3
constexpr SignLayout kLayout{5, 6, 16};
#elif HWY_TARGET <= HWY_AVX2
constexpr SignLayout kLayout{3, 10, 8};
#else
constexpr SignLayout kLayout{4, 8, 4};
#endif
// Tables of 16 bits: 32 entries in one register.
constexpr SignLayout kShortLayout{5, 3, 16, 16};
/// The rows before which sizes are summed up apart from those behind: all that are held by twos and
/// some more, as the number of cache lines and the length of the tail allow.
constexpr std::size_t FirstSizes(std::size_t main_rows, std::size_t tail_stride) {
    constexpr std::size_t sums = kLayout.partial_sums;
    return (2 * kLayout.groups(main_rows + tail_stride) + sums - 1) / sums * sums;
}

constexpr std::size_t kEntries = std::size_t{1} << kLayout.rows_per_group;

/// r from the last two misfits and the residual before. In a plain network it is the last misfit.
template <class V>
HWY_INLINE V Residual(V e1, V e2, V before, V back, V omega) {
    return hn::MulAdd(omega, before, hn::NegMulAdd(back, e2, e1));
}

/// z = delta (x1 + beta (x1 - x2)) + scale q in the unit of the new x: x1 - before x2 + scale q, in
/// a plain network without x2. q, which comes last, is added last.
template <bool kPlain, class V>
HWY_INLINE V LayerInput(V x1, V x2, V q, V before, V scale) {
    return hn::MulAdd(scale, q, kPlain ? x1 : hn::NegMulAdd(before, x2, x1));
}

/// x2 of layers in which x1 has a factor.
template <class D>
HWY_INLINE void MixEntries(D d, const PackedLayer& layer, std::size_t count,
                           const float* HWY_RESTRICT x1, float* HWY_RESTRICT x2) {
    const auto kept = hn::Set(d, layer.kept);
    const auto added = hn::Set(d, layer.added);
    for (std::size_t j = 0; j < count; j += hn::MaxLanes(d))
        hn::Store(hn::MulAdd(added, hn::Load(d, x1 + j), hn::Mul(kept, hn::Load(d, x2 + j))), d,
                  x2 + j);
}

/// x as others know it.
template <bool kPlain>
HWY_INLINE void WriteEntries(const float* HWY_RESTRICT x, float unit, std::size_t count,
                             float* HWY_RESTRICT to) {
    // Not std::copy_n: it would not be compiled for this target.
    for (std::size_t j = 0; j < count; ++j) to[j] = kPlain ? x[j] : unit * x[j];
}

/// The larger of two sizes. Compared as integers, of which those of NaN are the largest, whichever
/// comes first; and arithmetic on floats lowers the clock: with vrangeps, an instruction less on
/// AVX-512, a batch of 50 x 100 took 12 % more.
template <class V>
HWY_INLINE V LargerSize(V a, V b) {
    const hn::DFromV<V> d;
    const hn::RebindToSigned<decltype(d)> di;
    return hn::BitCast(d, hn::Max(hn::BitCast(di, a), hn::BitCast(di, b)));
}

/// A threshold that follows the residual. One that is not finite would set everything to zero as if
/// nothing had happened: it gets a minus, so that everything is above it. Adding one to its
/// exponent tells: only those overflow into the sign.
template <Activation kActivation, class V>
HWY_INLINE V ResidualThreshold(V tau) {
    if constexpr (kActivation != Activation::soft) return tau;
    const hn::DFromV<V> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto next = hn::Add(hn::BitCast(du, tau), hn::Set(du, 1U << 23U));
    return hn::Or(tau, hn::And(hn::BitCast(d, next), hn::SignBit(d)));
}

/// x of a layer, and where it is not zero.
template <class V>
struct Activated {
    V x;
    hn::Mask<hn::DFromV<V>> alive;

    explicit Activated(V x_) : x(x_), alive(hn::Ne(x_, hn::Zero(hn::DFromV<V>()))) {}
    Activated(V x_, hn::Mask<hn::DFromV<V>> alive_) : x(x_), alive(alive_) {}
};

#if HWY_TARGET <= HWY_AVX3
/// The soft threshold. vrangeps takes an instruction less, but with it there is so much arithmetic
/// on floats of 512 bits that the processor lowers its clock (3.4 to 2.8 GHz on an Ice Lake). For
/// the same reason sizes are compared as integers: those of NaN are the largest. In assembler: of
/// the intrinsics g++ 12 made three copies of tau and two of the sign, more than registers hold.
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
template <class V>
HWY_INLINE Activated<V> SoftThreshold(V z, V tau) {
    return Activated<V>(hn::Sub(z, hn::Min(hn::Max(z, hn::Neg(tau)), tau)));
}
#endif

template <Activation kActivation, class V>
HWY_INLINE Activated<V> Activate(V z, V tau) {
    const hn::DFromV<V> d;
    if constexpr (kActivation == Activation::hard)
        return Activated<V>(hn::IfThenElseZero(hn::Ge(hn::Abs(z), tau), z));
    if constexpr (kActivation == Activation::relu) return Activated<V>(hn::Max(z, hn::Zero(d)));
    return SoftThreshold(z, tau);
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
