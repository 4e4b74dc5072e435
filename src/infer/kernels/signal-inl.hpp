// One signal at a time in vectors whose lanes are its rows or its entries. Included once for every
// target.

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

#include "infer/kernels/kernels.hpp"
#include "infer/kernels/layer_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t kLanes = HWY_TARGET <= HWY_AVX3 ? 16 : 8;

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

/// The first rows, which are held by twos.
struct PairedRows {
    std::size_t count;
    std::size_t first_sizes;

    explicit HWY_INLINE PairedRows(const PackedPart& part)
        : count(part.paired()), first_sizes(FirstSizes(part.main_rows, part.tail_stride)) {}

    bool Whole(std::size_t i) const { return i + kLanes <= count; }
    bool None(std::size_t i) const { return i >= count; }
    /// Those in the vector from i on.
    HWY_INLINE hn::Mask<D> From(std::size_t i) const {
        return hn::FirstN(D(), None(i) ? 0 : std::min(count - i, kLanes));
    }
};

/// One signal on its way. Rows are held as the operator's are. Whatever stands behind them is zero,
/// behind entry n - 1 anything.
struct Signal {
    float *y, *r;         ///< rows
    float *e1, *e2;       ///< c y - A x1 and the one before; a plain network has r
    float* sums;          ///< rows on their way to e1, where they are too many for registers
    float *x1, *x2, *q;   ///< columns
    std::uint8_t* alive;  ///< a bit for every column: x1 is not zero there
    float* sizes;         ///< partial sums of |r|
    float* tau;           ///< the threshold, where it follows from them

    Signal() = default;
    /// In the memory from `at` on, vector_signal_floats() of it. Signals that take turns share
    /// memory of padded columns and rows: what is small stays in the cache.
    Signal(const PackedPart& part, float* at, float* shared) : y(at) {
        const std::size_t rows = part.padded_rows(kLayout);
        r = y + rows;
        e1 = r + (part.plain ? 0 : rows);
        e2 = e1 + (part.plain ? 0 : rows);
        x1 = e2 + rows;
        x2 = x1 + (part.plain ? 0 : part.stride);
        q = shared;
        sums = part.plain ? r : shared + part.stride;
        alive = reinterpret_cast<std::uint8_t*>(x2 + part.stride);
    }

    /// Begins with these measurements and with nothing else, in all `floats` of its memory.
    void Begin(const PackedPart& part, const float* measured, std::size_t floats) const {
        std::fill_n(y, floats, 0.0F);
        std::copy_n(measured, part.m, y);
        const PairedRows paired(part);
        for (std::size_t i = 0; !paired.None(i); i += kLanes) {
            const V given = hn::Load(D(), y + i);
            const V first = hn::DupEven(given);
            const V second = hn::DupOdd(given);
            const V pairs = hn::OddEven(hn::Add(first, second), hn::Sub(first, second));
            const V held = hn::IfThenElse(paired.From(i), pairs, given);
            hn::Store(held, D(), y + i);
        }
    }

    /// Multiplies all but y.
    void Rescale(const PackedPart& part, float factor) const {
        float* end = std::max(x1, x2) + part.stride;
        for (float* at = r; at != end; at += kLanes)
            hn::Store(hn::Mul(hn::Set(D(), factor), hn::Load(D(), at)), D(), at);
    }

    /// The same signal a layer later: what was now is before.
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
