// The product of signs with float tables in registers. Included once for every target.

#if defined(PIBINN_INFER_FLOAT_TABLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_FLOAT_TABLES_INL
#undef PIBINN_INFER_FLOAT_TABLES_INL
#else
#define PIBINN_INFER_FLOAT_TABLES_INL
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

#include <hwy/highway.h>

#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

constexpr std::size_t kGroup = kLayout.rows_per_group;
constexpr std::size_t kGroups = kLayout.groups_per_word;

/// All signed sums of a group of rows: entry e adds row b where bit b of e is set and subtracts it
/// where not. Rounded as a chain from the first row on.
struct GroupTable {
    V low;
#if HWY_TARGET <= HWY_AVX3
    V high;
#endif
};

/// [b][lane] is +1 where bit b of the lane's number is set, else -1. Read from memory: made anew
/// they took an eighth of the product.
struct LaneSigns {
    alignas(64) float values[4][kLanes];

    constexpr LaneSigns() : values() {
        for (std::size_t b = 0; b < 4; ++b)
            for (std::size_t lane = 0; lane < kLanes; ++lane)
                values[b][lane] = (lane >> b & 1) != 0 ? 1.0F : -1.0F;
    }
};
constexpr LaneSigns kLaneSigns;

HWY_INLINE GroupTable MakeTable(const float* r, const V* signs) {
    const D d;
    V sum = hn::Mul(signs[0], hn::Set(d, r[0]));
    sum = hn::MulAdd(signs[1], hn::Set(d, r[1]), sum);
    sum = hn::MulAdd(signs[2], hn::Set(d, r[2]), sum);
#if HWY_TARGET <= HWY_AVX3
    sum = hn::MulAdd(signs[3], hn::Set(d, r[3]), sum);
    const V last = hn::Set(d, r[4]);
    return {hn::Sub(sum, last), hn::Add(sum, last)};
#else
    return {sum};
#endif
}

/// The entry that the lowest bits of each lane's index name; the bits above do not count.
HWY_INLINE V LookUp(const GroupTable& table, VU index) {
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_permutex2var_ps(table.low.raw, index.raw, table.high.raw)};
#else
    return V{_mm256_permutevar8x32_ps(table.low.raw, index.raw)};
#endif
}

/// Adds one group's entries. Those of two planes are added to each other first: where they cancel,
/// as a ternary link of zero has it, they leave nothing behind.
template <std::size_t kAt, std::size_t kSignals, std::size_t kPlanes, std::size_t kUsed>
HWY_INLINE void AddLookUp(const GroupTable (&tables)[kSignals][kUsed], const VU* words, V* sums) {
    VU index[kPlanes];
    for (std::size_t p = 0; p < kPlanes; ++p) index[p] = hn::ShiftRight<kGroup * kAt>(words[p]);
    for (std::size_t s = 0; s < kSignals; ++s) {
        V entry = LookUp(tables[s][kAt], index[0]);
        if constexpr (kPlanes == 2) entry = hn::Add(entry, LookUp(tables[s][kAt], index[1]));
        sums[s] = kAt == 0 ? entry : hn::Add(sums[s], entry);
    }
}
template <std::size_t kPlanes, std::size_t kSignals, std::size_t kUsed, std::size_t... kAt>
HWY_INLINE void AddLookUps(const GroupTable (&tables)[kSignals][kUsed], const VU* words, V* sums,
                           std::index_sequence<kAt...>) {
    (AddLookUp<kAt, kSignals, kPlanes>(tables, words, sums), ...);
}

/// q (+)= the signed sums of the rows of one word, `kUsed` groups of them, for all columns of
/// kSignals signals: they share the words and the shifts. A word is summed up before it is added,
/// so that rounding grows with words and not with rows.
template <std::size_t kSignals, std::size_t kPlanes, std::size_t kUsed>
HWY_NOINLINE void AddWord(const PackedPart& part, const std::uint32_t* HWY_RESTRICT words,
                          const Signal* signals, std::size_t first_row) {
    const D d;
    const DU du;
    const std::size_t stride = part.stride;
    const std::size_t plane_size = part.plane_size();
    V signs[4];
    for (std::size_t b = 0; b < 4; ++b) signs[b] = hn::Load(d, kLaneSigns.values[b]);
    GroupTable tables[kSignals][kUsed];
    float* HWY_RESTRICT q[kSignals];
    for (std::size_t s = 0; s < kSignals; ++s) {
        q[s] = signals[s].q;
        for (std::size_t g = 0; g < kUsed; ++g)
            tables[s][g] = MakeTable(signals[s].r + first_row + g * kGroup, signs);
    }
    const bool first = first_row == 0;
    for (std::size_t j = 0; j < stride; j += kLanes) {
        VU word[kPlanes];
        for (std::size_t p = 0; p < kPlanes; ++p)
            word[p] = hn::Load(du, words + p * plane_size + j);
        V sums[kSignals];
        AddLookUps<kPlanes>(tables, word, sums, std::make_index_sequence<kUsed>());
        for (std::size_t s = 0; s < kSignals; ++s)
            hn::Store(first ? sums[s] : hn::Add(hn::Load(d, q[s] + j), sums[s]), d, q[s] + j);
    }
}

using AddWordFunction = void (*)(const PackedPart&, const std::uint32_t*, const Signal*,
                                 std::size_t);

template <std::size_t kSignals, std::size_t... kUsed>
AddWordFunction AddWordOf(std::size_t planes, std::size_t used, std::index_sequence<kUsed...>) {
    static constexpr AddWordFunction one[] = {&AddWord<kSignals, 1, kUsed + 1>...};
    static constexpr AddWordFunction two[] = {&AddWord<kSignals, 2, kUsed + 1>...};
    return (planes == 1 ? one : two)[used - 1];
}

/// q = B^T r with the signs B of one layer.
template <std::size_t kSignals>
struct FloatProduct {
    AddWordFunction whole, last;

    explicit FloatProduct(const PackedPart& part) {
        const std::size_t groups = (part.m + kGroup - 1) / kGroup;
        const auto all = std::make_index_sequence<kGroups>();
        whole = AddWordOf<kSignals>(part.planes, kGroups, all);
        last = AddWordOf<kSignals>(part.planes, groups - (part.words - 1) * kGroups, all);
    }

    HWY_INLINE void operator()(const PackedPart& part, const std::uint32_t* signs,
                               const Signal* signals) const {
        for (std::size_t w = 0; w < part.words; ++w)
            (w + 1 == part.words ? last : whole)(part, signs + w * part.stride, signals,
                                                 w * kLayout.rows_per_word());
    }
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
