#include "algebra/cpu/dense_kernels.hpp"

#include <algorithm>

#include "algebra/cpu/row_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/dense_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

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

template <bool kSubtract, std::size_t kRows, std::size_t kVectors>
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
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[i][v] = kSubtract ? hn::Load(d, c + i * width + v * lanes) : hn::Zero(d);
    for (std::size_t k = 0; k < inner; ++k) {
        V column[kVectors];
        for (std::size_t v = 0; v < kVectors; ++v) column[v] = hn::Load(d, b + v * lanes);
        for (std::size_t i = 0; i < kRows; ++i) {
            const V factor = hn::Set(d, a[i * a_row]);
            for (std::size_t v = 0; v < kVectors; ++v)
                sum[i][v] = kSubtract ? hn::NegMulAdd(factor, column[v], sum[i][v])
                                      : hn::MulAdd(factor, column[v], sum[i][v]);
        }
        a += a_inner;
        b += width;
    }
    for (std::size_t i = 0; i < kRows; ++i)
        for (std::size_t v = 0; v < kVectors; ++v)
            hn::Store(sum[i][v], d, c + i * width + v * lanes);
}

template <bool kSubtract, std::size_t kVectors>
void Slab(const DenseArgs& args, std::size_t at) {
    std::size_t row = 0;
    for (; row + kTileRows <= args.rows; row += kTileRows)
        Tile<kSubtract, kTileRows, kVectors>(args, row, at);
    if (row + 4 <= args.rows) {
        Tile<kSubtract, 4, kVectors>(args, row, at);
        row += 4;
    }
    for (; row < args.rows; ++row) Tile<kSubtract, 1, kVectors>(args, row, at);
}

template <bool kSubtract>
HWY_INLINE void Product(const DenseArgs& args) {
    const std::size_t lanes = hn::Lanes(D());
    for (std::size_t at = 0; at < args.width;) {
        const std::size_t vectors = std::min(kTileVectors, (args.width - at) / lanes);
        switch (vectors) {
            case 1:
                Slab<kSubtract, 1>(args, at);
                break;
            case 2:
                Slab<kSubtract, 2>(args, at);
                break;
            case 3:
                Slab<kSubtract, std::min<std::size_t>(3, kTileVectors)>(args, at);
                break;
            default:
                Slab<kSubtract, kTileVectors>(args, at);
                break;
        }
        at += vectors * lanes;
    }
}

void MultiplyDense(const DenseArgs& args) { Product<false>(args); }
void SubtractDense(const DenseArgs& args) { Product<true>(args); }

void Transpose(std::size_t rows, std::size_t cols, const float* HWY_RESTRICT from,
               std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride) {
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR  // which has nothing to interleave
    const hn::FixedTag<float, 4> d;
    for (; i + 4 <= rows; i += 4) {
        std::size_t j = 0;
        for (; j + 4 <= cols; j += 4) {
            const float* tile = from + i * from_stride + j;
            const auto r0 = hn::LoadU(d, tile);
            const auto r1 = hn::LoadU(d, tile + from_stride);
            const auto r2 = hn::LoadU(d, tile + 2 * from_stride);
            const auto r3 = hn::LoadU(d, tile + 3 * from_stride);
            const auto even_low = hn::InterleaveLower(d, r0, r2);
            const auto even_high = hn::InterleaveUpper(d, r0, r2);
            const auto odd_low = hn::InterleaveLower(d, r1, r3);
            const auto odd_high = hn::InterleaveUpper(d, r1, r3);
            float* out = to + j * to_stride + i;
            hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, out);
            hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, out + to_stride);
            hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, out + 2 * to_stride);
            hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, out + 3 * to_stride);
        }
        for (; j < cols; ++j)
            for (std::size_t l = 0; l < 4; ++l)
                to[j * to_stride + i + l] = from[(i + l) * from_stride + j];
    }
#endif
    for (; i < rows; ++i)
        for (std::size_t j = 0; j < cols; ++j) to[j * to_stride + i] = from[i * from_stride + j];
}

// Calls body(tag, link, padded) for whole vectors of every column, then number by number: a masked
// load would read past the end, and on SSE4 it asks for an aligned address.
template <class Body>
HWY_INLINE void ForColumns(std::size_t count, std::size_t length, const Body& body) {
    const D d;
    const hn::CappedTag<float, 1> one;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t whole = length / lanes * lanes;
    for (std::size_t j = 0; j < count; ++j) {
        const std::size_t link = j * length;
        const std::size_t at = j * padded(length);
        for (std::size_t i = 0; i < whole; i += lanes) body(d, link + i, at + i);
        for (std::size_t i = whole; i < length; ++i) body(one, link + i, at + i);
    }
}

void PadColumns(std::size_t count, std::size_t length, const float* HWY_RESTRICT links,
                float* HWY_RESTRICT columns) {
    const auto body = [&](auto d, std::size_t link, std::size_t at)
                          HWY_ATTR { hn::StoreU(hn::LoadU(d, links + link), d, columns + at); };
    ForColumns(count, length, body);
}

void AddPaddedColumns(std::size_t count, std::size_t length, const float* HWY_RESTRICT columns,
                      float* HWY_RESTRICT links) {
    const auto body = [&](auto d, std::size_t link, std::size_t at) HWY_ATTR {
        const auto sum = hn::Add(hn::LoadU(d, links + link), hn::LoadU(d, columns + at));
        hn::StoreU(sum, d, links + link);
    };
    ForColumns(count, length, body);
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(MultiplyDense);
HWY_EXPORT(SubtractDense);
HWY_EXPORT(Transpose);
HWY_EXPORT(PadColumns);
HWY_EXPORT(AddPaddedColumns);

void multiply_dense(const DenseArgs& args) { HWY_DYNAMIC_DISPATCH(MultiplyDense)(args); }
void subtract_dense(const DenseArgs& args) { HWY_DYNAMIC_DISPATCH(SubtractDense)(args); }

void transpose(std::size_t rows, std::size_t cols, const float* from, std::size_t from_stride,
               float* to, std::size_t to_stride) {
    HWY_DYNAMIC_DISPATCH(Transpose)(rows, cols, from, from_stride, to, to_stride);
}

void pad_columns(std::size_t count, std::size_t length, const float* links, float* columns) {
    HWY_DYNAMIC_DISPATCH(PadColumns)(count, length, links, columns);
}

void add_padded_columns(std::size_t count, std::size_t length, const float* columns, float* links) {
    HWY_DYNAMIC_DISPATCH(AddPaddedColumns)(count, length, columns, links);
}

}  // namespace pibinn::cpu
#endif
