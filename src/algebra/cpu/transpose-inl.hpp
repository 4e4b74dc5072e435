// Matrices turned over in vectors of any length. Included once for every target.

#if defined(PIBINN_ALGEBRA_TRANSPOSE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_ALGEBRA_TRANSPOSE_INL
#undef PIBINN_ALGEBRA_TRANSPOSE_INL
#else
#define PIBINN_ALGEBRA_TRANSPOSE_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR  // which has nothing to interleave

/// Four numbers from each of rows 0, 4, 8 .. as the blocks of one vector.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadRowBlocks(D d, const float* from, std::size_t stride) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (hn::MaxLanes(D()) == 4) {
        return hn::LoadU(d, from);
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, LoadRowBlocks(half, from + hn::MaxLanes(D()) / 2 * stride, stride),
                           LoadRowBlocks(half, from, stride));
    }
}

/// A vector's lanes of rows by four columns: every block of the four vectors is a 4 x 4 matrix that
/// turns over.
template <class D>
HWY_INLINE void TransposeFourColumns(D d, const float* from, std::size_t from_stride, float* to,
                                     std::size_t to_stride) {
    namespace hn = hwy::HWY_NAMESPACE;
    const auto r0 = LoadRowBlocks(d, from, from_stride);
    const auto r1 = LoadRowBlocks(d, from + from_stride, from_stride);
    const auto r2 = LoadRowBlocks(d, from + 2 * from_stride, from_stride);
    const auto r3 = LoadRowBlocks(d, from + 3 * from_stride, from_stride);
    const auto even_low = hn::InterleaveLower(d, r0, r2);
    const auto even_high = hn::InterleaveUpper(d, r0, r2);
    const auto odd_low = hn::InterleaveLower(d, r1, r3);
    const auto odd_high = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
    hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_stride);
    hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_stride);
    hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_stride);
}

/// Whole vectors of the rows from `first` on; returns the first row that is left.
template <class D>
HWY_INLINE std::size_t TransposeRows(D d, std::size_t first, std::size_t rows, std::size_t cols,
                                     const float* from, std::size_t from_stride, float* to,
                                     std::size_t to_stride) {
    namespace hn = hwy::HWY_NAMESPACE;
    constexpr std::size_t kRows = hn::MaxLanes(D());
    for (; first + kRows <= rows; first += kRows) {
        std::size_t j = 0;
        for (; j + 4 <= cols; j += 4)
            TransposeFourColumns(d, from + first * from_stride + j, from_stride,
                                 to + j * to_stride + first, to_stride);
        for (; j < cols; ++j)
            for (std::size_t i = first; i < first + kRows; ++i)
                to[j * to_stride + i] = from[i * from_stride + j];
    }
    return first;
}

#endif

/// to[j * to_stride + i] = from[i * from_stride + j]; what stands beyond `rows` in a row of `to`
/// stays.
inline HWY_NOINLINE void Transpose(std::size_t rows, std::size_t cols,
                                   const float* HWY_RESTRICT from, std::size_t from_stride,
                                   float* HWY_RESTRICT to, std::size_t to_stride) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<float, 16> wide;
    i = TransposeRows(wide, i, rows, cols, from, from_stride, to, to_stride);
    if constexpr (hn::MaxLanes(wide) > 4)
        i = TransposeRows(hn::CappedTag<float, 4>(), i, rows, cols, from, from_stride, to,
                          to_stride);
#endif
    // Counted down: where no row can be left, g++ 12 for ARM takes i < rows for an endless loop.
    for (std::size_t left = rows - i; left > 0; --left, ++i)
        for (std::size_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
