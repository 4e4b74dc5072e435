// Rows of signals to signals side by side and back. Included once for every target.

#if defined(PIBINN_INFER_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_TRANSPOSE_INL
#undef PIBINN_INFER_TRANSPOSE_INL
#else
#define PIBINN_INFER_TRANSPOSE_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// to[j][i] = from[i][j], where `to` has `kWidth` numbers a row: 16, or 1 for a mere copy.
template <std::size_t kWidth>
HWY_INLINE void CopySideBySide(const float* HWY_RESTRICT from, std::size_t from_stride,
                               std::size_t rows, std::size_t cols, float* HWY_RESTRICT to) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) to[j * kWidth + i] = from[i * from_stride + j];
}

#if HWY_TARGET != HWY_SCALAR

/// Four numbers from each of rows 0, 4, 8 .. as the blocks of one vector.
template <class D>
HWY_INLINE hn::Vec<D> LoadBlocks(D d, const float* from, std::size_t stride) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, from);
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, LoadBlocks(half, from + hn::MaxLanes(D()) / 2 * stride, stride),
                           LoadBlocks(half, from, stride));
    }
}

template <class D>
HWY_INLINE void StoreBlocks(D d, hn::Vec<D> v, float* to, std::size_t stride) {
    if constexpr (hn::MaxLanes(D()) == 4) {
        hn::StoreU(v, d, to);
    } else {
        const hn::Half<D> half;
        StoreBlocks(half, hn::LowerHalf(half, v), to, stride);
        StoreBlocks(half, hn::UpperHalf(half, v), to + hn::MaxLanes(D()) / 2 * stride, stride);
    }
}

/// Every block of four vectors is a 4 x 4 matrix that turns over.
template <class D, class V>
HWY_INLINE void TurnBlocks(D d, V& r0, V& r1, V& r2, V& r3) {
    const V even_low = hn::InterleaveLower(d, r0, r2);
    const V even_high = hn::InterleaveUpper(d, r0, r2);
    const V odd_low = hn::InterleaveLower(d, r1, r3);
    const V odd_high = hn::InterleaveUpper(d, r1, r3);
    r0 = hn::InterleaveLower(d, even_low, odd_low);
    r1 = hn::InterleaveUpper(d, even_low, odd_low);
    r2 = hn::InterleaveLower(d, even_high, odd_high);
    r3 = hn::InterleaveUpper(d, even_high, odd_high);
}

/// Sixteen whole rows side by side; `cols` is rounded up to four, which both sides have room for.
HWY_INLINE void TurnRows(const float* HWY_RESTRICT from, std::size_t from_stride, std::size_t cols,
                         float* HWY_RESTRICT to) {
    const hn::CappedTag<float, 16> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t j = 0; j < cols; j += 4)
        for (std::size_t i = 0; i < 16; i += lanes) {
            const float* at = from + i * from_stride + j;
            auto r0 = LoadBlocks(d, at, from_stride);
            auto r1 = LoadBlocks(d, at + from_stride, from_stride);
            auto r2 = LoadBlocks(d, at + 2 * from_stride, from_stride);
            auto r3 = LoadBlocks(d, at + 3 * from_stride, from_stride);
            TurnBlocks(d, r0, r1, r2, r3);
            float* out = to + j * 16 + i;
            hn::Store(r0, d, out);
            hn::Store(r1, d, out + 16);
            hn::Store(r2, d, out + 32);
            hn::Store(r3, d, out + 48);
        }
}

/// The first `rows` of sixteen signals that stand side by side, as rows of `cols` numbers.
HWY_INLINE void TurnBack(const float* HWY_RESTRICT from, std::size_t rows, std::size_t cols,
                         float* HWY_RESTRICT to, std::size_t to_stride) {
    const hn::CappedTag<float, 16> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t j = 0;
    if (rows == 16)
        for (; j + 4 <= cols; j += 4)
            for (std::size_t i = 0; i < 16; i += lanes) {
                const float* at = from + j * 16 + i;
                auto r0 = hn::Load(d, at);
                auto r1 = hn::Load(d, at + 16);
                auto r2 = hn::Load(d, at + 32);
                auto r3 = hn::Load(d, at + 48);
                TurnBlocks(d, r0, r1, r2, r3);
                float* out = to + i * to_stride + j;
                StoreBlocks(d, r0, out, to_stride);
                StoreBlocks(d, r1, out + to_stride, to_stride);
                StoreBlocks(d, r2, out + 2 * to_stride, to_stride);
                StoreBlocks(d, r3, out + 3 * to_stride, to_stride);
            }
    for (; j < cols; ++j)
        for (std::size_t i = 0; i < rows; ++i) to[i * to_stride + j] = from[j * 16 + i];
}

#else  // which has nothing to interleave

HWY_INLINE void TurnRows(const float* from, std::size_t from_stride, std::size_t cols, float* to) {
    CopySideBySide<16>(from, from_stride, 16, cols, to);
}
HWY_INLINE void TurnBack(const float* from, std::size_t rows, std::size_t cols, float* to,
                         std::size_t to_stride) {
    for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t i = 0; i < rows; ++i) to[i * to_stride + j] = from[j * 16 + i];
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
