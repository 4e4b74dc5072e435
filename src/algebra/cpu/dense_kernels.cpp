#include "algebra/cpu/dense_kernels.hpp"

#include <algorithm>

#include "algebra/cpu/row_kernels.hpp"
#include "core/static_count.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/dense_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "algebra/cpu/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

// A tile of c stays in registers: six rows of four vectors where there are 32 registers, of two
// where there are 16.
constexpr std::size_t kTileRows = 6;
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kTileVectors = 4;
#else
constexpr std::size_t kTileVectors = 2;
#endif

template <std::size_t kRows, std::size_t kVectors>
HWY_INLINE void Tile(const DenseArgs& args, std::size_t row, std::size_t at) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t inner = args.inner;
    const std::size_t width = args.width;
    const std::size_t a_row = args.a_row;
    const std::size_t a_inner = args.a_inner;
    const float* HWY_RESTRICT a = args.a + row * a_row;
    const float* HWY_RESTRICT b = args.b + at;
    float* HWY_RESTRICT c = args.c + row * width + at;
    V sum[kRows][kVectors];
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
    for (std::size_t k = 0; k < inner; ++k) {
        V column[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) column[v] = hn::Load(d, b + v * lanes);
        for (std::size_t i = 0; i < kRows; ++i) {
            const V factor = hn::Set(d, a[i * a_row]);
            for (std::size_t v = 0; v < kVectors; ++v)
                sum[i][v] = hn::MulAdd(factor, column[v], sum[i][v]);
        }
        a += a_inner;
        b += width;
    }
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t v = 0; v < kVectors; ++v)
            hn::Store(sum[i][v], d, c + i * width + v * lanes);
}

template <std::size_t kVectors>
void Slab(const DenseArgs& args, std::size_t at) {
    std::size_t row = 0;
    for (; row + kTileRows <= args.rows; row += kTileRows) Tile<kTileRows, kVectors>(args, row, at);
    if (row + 4 <= args.rows) {
        Tile<4, kVectors>(args, row, at);
        row += 4;
    }
    for (; row < args.rows; ++row) Tile<1, kVectors>(args, row, at);
}

void MultiplyDense(const DenseArgs& args) {
    const std::size_t lanes = hn::Lanes(D());
    for (std::size_t at = 0; at < args.width;) {
        const std::size_t vectors = std::min(kTileVectors, (args.width - at) / lanes);
        WithStaticCount<kTileVectors>(vectors, [&](auto count) { Slab<count()>(args, at); });
        at += vectors * lanes;
    }
}

void TransposeMatrix(std::size_t rows, std::size_t cols, const float* HWY_RESTRICT from,
                     std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride) {
    Transpose(rows, cols, from, from_stride, to, to_stride);
}

void PadColumns(std::size_t count, std::size_t length, const float* HWY_RESTRICT links,
                float* HWY_RESTRICT columns) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t whole = length / lanes * lanes;
    for (std::size_t j = 0; j < count; ++j) {
        const float* from = links + j * length;
        float* to = columns + j * padded(length);
        for (std::size_t i = 0; i < whole; i += lanes) hn::Store(hn::LoadU(d, from + i), d, to + i);
#if HWY_TARGET <= HWY_AVX2
        if (whole < length)
            hn::Store(hn::MaskedLoad(hn::FirstN(d, length - whole), d, from + whole), d,
                      to + whole);
#else  // a masked load would ask for an aligned address
        for (std::size_t i = whole; i < length; ++i) to[i] = from[i];
#endif
    }
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(MultiplyDense);
HWY_EXPORT(TransposeMatrix);
HWY_EXPORT(PadColumns);

void multiply_dense(const DenseArgs& args) { HWY_DYNAMIC_DISPATCH(MultiplyDense)(args); }

void transpose(std::size_t rows, std::size_t cols, const float* from, std::size_t from_stride,
               float* to, std::size_t to_stride) {
    HWY_DYNAMIC_DISPATCH(TransposeMatrix)(rows, cols, from, from_stride, to, to_stride);
}

void pad_columns(std::size_t count, std::size_t length, const float* links, float* columns) {
    HWY_DYNAMIC_DISPATCH(PadColumns)(count, length, links, columns);
}

}  // namespace pibinn::cpu
#endif
