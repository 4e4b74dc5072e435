// What instruction sets do with the pieces of a learned shrink each in their own way; see
// primitives-inl.hpp. Included once for every target.

#if defined(PIBINN_INFER_PIECE_PRIMITIVES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_PIECE_PRIMITIVES_INL
#undef PIBINN_INFER_PIECE_PRIMITIVES_INL
#else
#define PIBINN_INFER_PIECE_PRIMITIVES_INL
#endif

#include <hwy/highway.h>

#include "infer/kernels/primitives-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// Where |z| is beyond a threshold. Compared as integers: NaN is beyond all thresholds, and so is
/// everything beyond those that ScaledThreshold has marked.
template <class V>
HWY_INLINE hn::Mask<hn::DFromV<V>> Beyond(V size, V threshold) {
    const hn::DFromV<V> d;
    const hn::RebindToSigned<decltype(d)> di;
    return hn::RebindMask(d, hn::Gt(hn::BitCast(di, size), hn::BitCast(di, threshold)));
}

// NumberOfFour: how many of three thresholds, which ascend, `size` is beyond; LookUpFour: the one
// of four numbers, which stand in every four lanes, that it names.

namespace portable {

template <class V>
HWY_INLINE auto NumberOfFour(V size, V first, V second, V third) {
    const hn::RebindToUnsigned<hn::DFromV<V>> du;
    const auto upper = Beyond(size, second);
    const auto beyond = Beyond(size, hn::IfThenElse(upper, third, first));
    const auto half = hn::IfThenElseZero(hn::RebindMask(du, upper), hn::Set(du, 2));
    return AddWhere(hn::RebindMask(du, beyond), half, hn::Set(du, 1));
}

template <class V, class VN>
HWY_INLINE V LookUpFour(V numbers, VN number) {
    return hn::TableLookupLanes(numbers, hn::IndicesFromVec(hn::DFromV<V>(), number));
}

}  // namespace portable

#if PIBINN_AVX512

/// Without comparisons: Zen 5 compares on the two ports that permute, and with three masks per
/// vector instead of one a loop of shrinks took 5.0 cycles per vector instead of 2.3. Of the
/// differences to the thresholds the sign bits count: the second one is the number's bit 1, and all
/// three together are its bit 0. The bits above these are anything. Where NaN is beyond marked
/// thresholds differences may overflow; its number does not matter.
template <class V>
HWY_INLINE auto NumberOfFour(V size, V first, V second, V third) {
    const hn::RebindToUnsigned<hn::DFromV<V>> du;
    const auto below = [&](V threshold) HWY_ATTR {
        return hn::Sub(hn::BitCast(du, threshold), hn::BitCast(du, size));
    };
    const auto middle = below(second);
    const auto all = hn::Xor3(below(first), middle, below(third));
    return hn::IfVecThenElse(hn::Set(du, 1), hn::RotateRight<31>(all), hn::RotateRight<30>(middle));
}

template <class V, class VN>
HWY_INLINE V LookUpFour(V numbers, VN number) {
    if constexpr (sizeof(V) == 64)
        return V{_mm512_permutexvar_ps(number.raw, numbers.raw)};
    else if constexpr (sizeof(V) == 32)
        return V{_mm256_permutevar8x32_ps(numbers.raw, number.raw)};
    else
        return V{_mm_permutevar_ps(numbers.raw, number.raw)};
}

#else

using portable::LookUpFour;
using portable::NumberOfFour;

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
