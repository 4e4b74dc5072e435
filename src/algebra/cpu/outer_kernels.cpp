#include "algebra/cpu/outer_kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "algebra/cpu/row_kernels.hpp"
#include "core/static_count.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/outer_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

// Sums stay in registers: of four columns of four vectors where there are 32, of two where 16.
constexpr std::size_t kMostVectors = 4;
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t kTogether = 4;
#else
constexpr std::size_t kTogether = 2;
#endif
// Rows whose non-zeros in a column fit one word.
constexpr std::size_t kWordRows = 64;

// to += sum or to = sum, of `count` numbers at most.
template <Into kInto>
HWY_INLINE void Put(V sum, std::size_t count, float* HWY_RESTRICT to) {
    const D d;
    if (count >= hn::Lanes(d)) {
        hn::StoreU(kInto == Into::add ? hn::Add(hn::LoadU(d, to), sum) : sum, d, to);
        return;
    }
#if HWY_TARGET <= HWY_AVX2
    const auto mask = hn::FirstN(d, count);
    if (kInto == Into::add) sum = hn::Add(hn::MaskedLoad(mask, d, to), sum);
    hn::BlendedStore(sum, mask, d, to);
#else  // a masked load would ask for an aligned address
    HWY_ALIGN float numbers[kPad];
    hn::Store(sum, d, numbers);
    for (std::size_t i = 0; i < count; ++i)
        to[i] = kInto == Into::add ? to[i] + numbers[i] : numbers[i];
#endif
}

// Bit i of word j tells whether c(i, j) is not zero, for as many columns as a vector has lanes.
void Words(std::size_t rows, const float* HWY_RESTRICT c, std::size_t stride,
           std::uint64_t* HWY_RESTRICT words) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    const V zero = hn::Zero(d);
    HWY_ALIGN std::uint32_t halves[2][kPad] = {};
    for (std::size_t half = 0; half < 2 && 32 * half < rows; ++half) {
        auto word = hn::Zero(du);
        auto bit = hn::Set(du, 1);
        for (std::size_t i = 32 * half; i < std::min(rows, 32 * (half + 1)); ++i) {
            const auto alive = hn::RebindMask(du, hn::Ne(hn::Load(d, c + i * stride), zero));
            word = hn::Or(word, hn::IfThenElseZero(alive, bit));
            bit = hn::Add(bit, bit);
        }
        hn::Store(word, du, halves[half]);
    }
    for (std::size_t j = 0; j < hn::Lanes(d); ++j)
        words[j] = halves[0][j] | (std::uint64_t{halves[1][j]} << 32);
}

// The columns at `links` and on, over the rows in which one of them is not zero.
template <Into kInto, std::size_t kVectors, std::size_t kColumns>
HWY_INLINE void Columns(std::uint64_t word, const float* HWY_RESTRICT c, std::size_t c_stride,
                        const float* HWY_RESTRICT v, std::size_t v_stride,
                        float* HWY_RESTRICT links, std::size_t m, std::size_t length) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    V sum[kColumns][kVectors];
    for (auto& column : sum)
        for (V& part : column) part = hn::Zero(d);
    for (; word; word &= word - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(word));
        const float* HWY_RESTRICT row = v + i * v_stride;
        V factor[kColumns];
        for (std::size_t l = 0; l < kColumns; ++l) factor[l] = hn::Set(d, c[i * c_stride + l]);
        for (std::size_t b = 0; b < kVectors; ++b) {
            const V part = hn::Load(d, row + b * lanes);
            for (std::size_t l = 0; l < kColumns; ++l)
                sum[l][b] = hn::MulAdd(factor[l], part, sum[l][b]);
        }
    }
    for (std::size_t l = 0; l < kColumns; ++l)
        for (std::size_t b = 0; b < kVectors; ++b)
            if (b * lanes < length)  // padding may be several vectors
                Put<kInto>(sum[l][b], length - b * lanes, links + l * m + b * lanes);
}

// Columns together share what they load of v and none waits for its own last sum, but they go
// through the rows of all. Measured with four vectors a column: five cycles a row for one column,
// nine for four.
HWY_INLINE bool BetterTogether(const std::uint64_t* words, std::uint64_t all) {
    int alone = 0;
    for (std::size_t l = 0; l < kTogether; ++l) alone += std::popcount(words[l]);
    const int per_row = kTogether == 4 ? 9 : 6;
    return per_row * std::popcount(all) < 5 * alone;
}

template <Into kInto, std::size_t kVectors>
void Slab(const OuterArgs& a, std::size_t first_row, std::size_t at) {
    const std::size_t lanes = hn::Lanes(D());
    const std::size_t rows = std::min(kWordRows, a.rows - first_row);
    const std::size_t n = a.n;
    const std::size_t m = a.m;
    const std::size_t c_stride = padded(n);
    const std::size_t v_stride = padded(m);
    const float* c = a.c + first_row * c_stride;
    const float* v = a.v + first_row * v_stride + at;
    float* links = a.links + at;
    const std::size_t length = std::min(m - at, kVectors * lanes);
    std::uint64_t words[kPad] = {};
    for (std::size_t begin = 0; begin < n; begin += lanes) {
        Words(rows, c + begin, c_stride, words);
        const std::size_t end = std::min(n, begin + lanes);
        for (std::size_t j = begin; j < end;) {
            const std::uint64_t* word = words + (j - begin);
            if (j + kTogether <= end) {
                std::uint64_t all = 0;
                for (std::size_t l = 0; l < kTogether; ++l) all |= word[l];
                if (BetterTogether(word, all)) {
                    Columns<kInto, kVectors, kTogether>(all, c + j, c_stride, v, v_stride,
                                                        links + j * m, m, length);
                    j += kTogether;
                    continue;
                }
            }
            const std::size_t next = std::min(end, j + kTogether);
            for (; j < next; ++j)
                Columns<kInto, kVectors, 1>(words[j - begin], c + j, c_stride, v, v_stride,
                                            links + j * m, m, length);
        }
    }
}

template <Into kInto>
void Rows(const OuterArgs& a, std::size_t first_row) {
    const std::size_t lanes = hn::Lanes(D());
    for (std::size_t at = 0; at < a.m; at += kMostVectors * lanes) {
        WithStaticCount<kMostVectors>((padded(a.m) - at) / lanes, [&](auto vectors) {
            Slab<kInto, vectors()>(a, first_row, at);
        });
    }
}

void OuterColumns(const OuterArgs& a) {
    std::size_t row = 0;
    if (a.into == Into::assign) {
        Rows<Into::assign>(a, 0);
        row = kWordRows;
    }
    for (; row < a.rows; row += kWordRows) Rows<Into::add>(a, row);
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(OuterColumns);

void outer_columns(const OuterArgs& args) { HWY_DYNAMIC_DISPATCH(OuterColumns)(args); }

}  // namespace pibinn::cpu
#endif
