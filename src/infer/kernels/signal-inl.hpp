// One signal in vectors whose lanes are its rows or its entries. Included once for every target.

#if defined(PIBINN_INFER_SIGNAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SIGNAL_INL
#undef PIBINN_INFER_SIGNAL_INL
#else
#define PIBINN_INFER_SIGNAL_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <hwy/highway.h>

#include "algebra/centre.hpp"
#include "infer/kernels/kernels.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/sign_columns.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// f(0), f(1) .. f(kCount - 1) with numbers that the compiler knows, so that arrays of vectors
/// which they index stay in registers.
template <class F, std::size_t... kAt>
HWY_INLINE void ForEach(const F& f, std::index_sequence<kAt...>) {
    (f(std::integral_constant<std::size_t, kAt>()), ...);
}
template <std::size_t kCount, class F>
HWY_INLINE void ForEach(const F& f) {
    ForEach(f, std::make_index_sequence<kCount>());
}

/// The first lanes of a vector.
template <class DT>
HWY_INLINE hn::Vec<DT> FirstLanes(DT d, V v) {
    if constexpr (hn::MaxLanes(DT()) == kLanes)
        return v;
    else if constexpr (hn::MaxLanes(DT()) * 2 == kLanes)
        return hn::LowerHalf(d, v);
    else
        return hn::LowerHalf(d, hn::LowerHalf(hn::Half<D>(), v));
}

/// A shorter vector with zeros behind it.
template <class VN>
HWY_INLINE V ZeroExtended(VN v) {
    constexpr std::size_t kFrom = hn::MaxLanes(hn::DFromV<VN>());
    if constexpr (kFrom == kLanes) {
        return v;
    } else {
        const hn::CappedTag<float, 2 * kFrom> twice;
        return ZeroExtended(hn::ZeroExtendVector(twice, v));
    }
}

/// The first rows, two by two a butterfly: their difference and their sum.
struct ButterflyRows {
    std::size_t count;
    std::size_t first_abs_rows;

    explicit HWY_INLINE ButterflyRows(const PackedBlock& block)
        : count(block.butterfly_rows()),
          first_abs_rows(FirstAbsRows(block.main_rows, block.tail_stride)) {}

    bool Whole(std::size_t i) const { return i + kLanes <= count; }
    bool None(std::size_t i) const { return i >= count; }
    /// Those in the vector from i on.
    HWY_INLINE hn::Mask<D> From(std::size_t i) const {
        return hn::FirstN(D(), None(i) ? 0 : std::min(count - i, kLanes));
    }
};

/// The working memory of one signal. Its rows are stored as the operator's are. What stands behind
/// them is zero; what stands behind entry n - 1 may be anything.
struct Signal {
    float *y, *r;         ///< rows
    float *e1, *e2;       ///< c y - A x1 and the one before; a plain network has r
    float* sums;          ///< rows of e1 while they are summed, if too many for registers
    float *x1, *x2, *q;   ///< columns
    std::uint8_t* alive;  ///< a bit for every column: x1 is not zero there
    float* abs_sums;      ///< partial sums of |r|
    float* tau;           ///< the threshold, where it follows from them
    float* shrink;        ///< the pieces of a learned shrink, thresholds times tau
    float* slopes;        ///< of it, summed over the entries of x1
    SignColumnSpace sign_columns;

    Signal() = default;
    /// In the memory from `at` on, vector_signal_floats() of it. Interleaved signals share memory
    /// of padded columns and rows, and for A x by signs: what is small stays in the cache.
    Signal(const PackedBlock& block, float* at, float* shared) : y(at) {
        const std::size_t rows = block.padded_rows(kLayout);
        r = y + rows;
        e1 = r + (block.plain ? 0 : rows);
        e2 = e1 + (block.plain ? 0 : rows);
        x1 = e2 + rows;
        x2 = x1 + (block.plain ? 0 : block.stride);
        q = shared;
        sums = block.plain ? r : shared + block.stride;
        alive = reinterpret_cast<std::uint8_t*>(x2 + block.stride);
        sign_columns = SignColumnSpace(block, shared + block.stride + rows);
    }

    /// Sets y to these measurements and all else to zero, in all `floats` of its memory.
    void Begin(const PackedBlock& block, const float* measured, std::size_t floats) const {
        std::fill_n(y, floats, 0.0F);
        std::copy_n(measured, block.m, y);
        if (block.centre) centre({y, block.m});
        const ButterflyRows butterfly(block);
        for (std::size_t i = 0; !butterfly.None(i); i += kLanes) {
            const V given = hn::Load(D(), y + i);
            const V first = hn::DupEven(given);
            const V second = hn::DupOdd(given);
            const V pairs = hn::OddEven(hn::Add(first, second), hn::Sub(first, second));
            hn::Store(hn::IfThenElse(butterfly.From(i), pairs, given), D(), y + i);
        }
    }

    /// Multiplies all but y.
    void Rescale(const PackedBlock& block, float factor) const {
        float* end = std::max(x1, x2) + block.stride;
        for (float* at = r; at != end; at += kLanes)
            hn::Store(hn::Mul(hn::Set(D(), factor), hn::Load(D(), at)), D(), at);
    }

    /// The same signal one layer later: x1 and e1 become x2 and e2.
    Signal Later() const {
        Signal later = *this;
        std::swap(later.e1, later.e2);
        std::swap(later.x1, later.x2);
        return later;
    }
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
