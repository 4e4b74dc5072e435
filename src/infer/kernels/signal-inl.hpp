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

/// Which of the rows from i on are held by twos; i is among them.
HWY_INLINE hn::Mask<D> PairedLanes(const PackedPart& part, std::size_t i) {
    return hn::FirstN(D(), std::min(kLanes, part.paired() - i));
}

/// One signal on its way. Rows are held as the operator's are. Whatever stands behind them is zero,
/// behind entry n - 1 anything.
struct Signal {
    float *y, *p1, *p2, *r;  ///< rows
    float *x1, *x2, *q;      ///< columns
    std::uint8_t* alive;     ///< a bit for every column: x1 is not zero there
    float total;             ///< the sum of |r|

    Signal() = default;
    /// In the memory from `at` on, vector_signal_floats() of it. Signals that take turns share the
    /// `scratch`, of padded rows and columns: what is small stays in the cache.
    Signal(const PackedPart& part, const float* measured, float* at, float* scratch)
        : y(at), total(0) {
        const std::size_t rows = part.padded_rows(kLayout);
        p1 = part.plain ? scratch : y + 2 * rows;
        p2 = part.plain ? scratch : y + 3 * rows;
        r = y + rows;
        x1 = r + (part.plain ? rows : 3 * rows);
        x2 = x1 + (part.plain ? 0 : part.stride);
        q = scratch + rows;
        alive = reinterpret_cast<std::uint8_t*>(x2 + part.stride);
        std::fill_n(y, vector_signal_floats(part, kLayout), 0.0F);
        std::copy_n(measured, part.m, y);
        for (std::size_t i = 0; i < part.paired(); i += kLanes) {
            const V given = hn::Load(D(), y + i);
            const V first = hn::DupEven(given);
            const V second = hn::DupOdd(given);
            const V pairs = hn::OddEven(hn::Add(first, second), hn::Sub(first, second));
            hn::Store(hn::IfThenElse(PairedLanes(part, i), pairs, given), D(), y + i);
        }
    }
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
