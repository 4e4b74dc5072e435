// The product of signs with tables of 16 bits: twice the outputs a lookup, four digits. Included
// once for every target.

#if defined(PIBINN_INFER_SHORT_TABLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SHORT_TABLES_INL
#undef PIBINN_INFER_SHORT_TABLES_INL
#else
#define PIBINN_INFER_SHORT_TABLES_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "infer/kernels/float_tables-inl.hpp"
#include "infer/kernels/sizes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX3

constexpr std::size_t kShortGroups = kShortLayout.groups_per_word;
// Words whose sums are collected in 16 bits before they become floats: 60 rows.
constexpr std::size_t kShortWords = 4;

using D16 = hn::Full512<std::int16_t>;
using DU16 = hn::Full512<std::uint16_t>;
using V16 = hn::Vec<D16>;

/// The signed sums of a group of five rows, in units of 1 / scale.
HWY_INLINE V16 ShortTable(const GroupTable& table, V scale) {
    const hn::Half<D16> half;
    const auto low = hn::DemoteTo(half, hn::NearestInt(hn::Mul(table.low, scale)));
    return hn::Combine(D16(), hn::Neg(low), low);
}

/// The sum of |r| over up to a vector of groups.
HWY_INLINE float SumSizes(const GroupRows& rows, std::size_t groups) {
    const D d;
    V differences, sums;
    hn::LoadInterleaved2(d, rows.pairs, differences, sums);
    V total = hn::Max(hn::Abs(differences), hn::Abs(sums));
    for (const float* single : rows.singles) total = hn::Add(total, hn::Abs(hn::LoadU(d, single)));
    return SumLanes(hn::IfThenElseZero(hn::FirstN(d, groups), total));
}

template <std::size_t kAt>
HWY_INLINE V16 AddShort(const V16* tables, hn::Vec<DU16> word, V16 sum) {
    const auto index = hn::ShiftRight<5 * kAt>(word);
    return hn::Add(sum, V16{_mm512_permutexvar_epi16(index.raw, tables[kAt].raw)});
}

/// q (+)= the signed sums of kCount words of 15 rows, rounded to 16 bits group by group. The sum of
/// all |r| fills 16 bits, so that no sum can be larger.
template <std::size_t kPlanes, std::size_t kCount>
HWY_NOINLINE void AddShortWords(const PackedPart& part, const std::uint16_t* HWY_RESTRICT words,
                                const Signal& signal, std::size_t first) {
    constexpr std::size_t kTables = kCount * kShortGroups;
    const D d;
    const D16 d16;
    float* HWY_RESTRICT q = signal.q;
    const GroupRows rows(part, signal.r, first);
    // Words are whole, but rows of the groups behind the last are other groups'.
    const std::size_t used = std::min(kTables, part.groups - first);
    const float sum = SumSizes(rows, used);
    constexpr float kMost = 32767.0F / kPlanes - kTables;  // every entry may be rounded up
    const float unit = sum > 0 ? sum / kMost : 1.0F;
    GroupTable floats[kTables];
    MakeTables(rows, kTables, floats);
    const V scale = hn::Set(d, 1.0F / unit);
    V16 tables[kTables];
    for (std::size_t g = 0; g < kTables; ++g)
        tables[g] = g < used ? ShortTable(floats[g], scale) : hn::Zero(d16);
    const V back = hn::Set(d, unit);
    const hn::Half<D16> half;
    const hn::Full512<std::int32_t> d32;
    const std::size_t stride = part.stride;
    const std::size_t plane_words = part.words * stride;
    for (std::size_t j = 0; j < stride; j += 32) {
        V16 sums = hn::Zero(d16);
        for (std::size_t p = 0; p < kPlanes; ++p)
            for (std::size_t w = 0; w < kCount; ++w) {
                const auto word = hn::Load(DU16(), words + p * plane_words + w * stride + j);
                sums = AddShort<0>(tables + w * kShortGroups, word, sums);
                sums = AddShort<1>(tables + w * kShortGroups, word, sums);
                sums = AddShort<2>(tables + w * kShortGroups, word, sums);
            }
        const V low = hn::ConvertTo(d, hn::PromoteTo(d32, hn::LowerHalf(half, sums)));
        const V high = hn::ConvertTo(d, hn::PromoteTo(d32, hn::UpperHalf(half, sums)));
        const V q_low = first == 0 ? hn::Zero(d) : hn::Load(d, q + j);
        const V q_high = first == 0 ? hn::Zero(d) : hn::Load(d, q + j + 16);
        hn::Store(hn::MulAdd(low, back, q_low), d, q + j);
        hn::Store(hn::MulAdd(high, back, q_high), d, q + j + 16);
    }
}

/// x of a layer from its r, to about four digits.
template <bool kPlain, Activation kActivation>
class ShortLayers {
public:
    explicit ShortLayers(const PackedPart& part)
        : ShortLayers(part.planes, std::make_index_sequence<kShortWords>()) {}

    HWY_INLINE void operator()(const PackedPart& part, std::size_t k, const std::uint32_t* signs,
                               const Signal* signals, std::size_t count) const {
        const auto* words = reinterpret_cast<const std::uint16_t*>(signs);
        for (const Signal* signal = signals; signal != signals + count; ++signal) {
            for (std::size_t w = 0; w < part.words; w += kShortWords)
                add_[std::min(kShortWords, part.words - w) - 1](part, words + w * part.stride,
                                                                *signal, w * kShortGroups);
            FinishLayer<kPlain, kActivation>(part, k, *signal);
        }
    }

private:
    using Add = void (*)(const PackedPart&, const std::uint16_t*, const Signal&, std::size_t);
    Add add_[kShortWords];  ///< one word, two, and so on

    template <std::size_t... kAt>
    ShortLayers(std::size_t planes, std::index_sequence<kAt...>)
        : add_{(planes == 1 ? &AddShortWords<1, kAt + 1> : &AddShortWords<2, kAt + 1>)...} {}
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
