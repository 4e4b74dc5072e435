// The product of signs with float tables in registers. Included once for every target.

#if defined(PIBINN_INFER_FLOAT_TABLES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_FLOAT_TABLES_INL
#undef PIBINN_INFER_FLOAT_TABLES_INL
#else
#define PIBINN_INFER_FLOAT_TABLES_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <hwy/highway.h>

#include "core/static_count.hpp"
#include "infer/kernels/entries-inl.hpp"
#include "infer/kernels/signal-inl.hpp"
#include "infer/kernels/sites-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

constexpr std::size_t kGroup = kLayout.rows_per_group;
constexpr std::size_t kGroups = kLayout.groups_per_word;

/// The sign of a group's row b + 1 in the table's entry of the lane's number; [0] is that of the
/// first two rows. Read from memory: made anew they took an eighth of the product.
struct EntrySigns {
    alignas(64) float values[kGroup - 1][kLanes];

    constexpr EntrySigns() : values() {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            for (std::size_t b = 0; b + 1 < kGroup; ++b) {
                const bool minus = (lane >> (kGroup - 1) & 1) != 0;
                const bool like_first = b == 0 || (lane >> b & 1) != 0;
                values[b][lane] = like_first == minus ? -1.0F : 1.0F;
            }
    }
};
constexpr EntrySigns kEntrySigns;

/// Where the rows of groups stand.
struct GroupRows {
    const float* pairs;
    const float* singles[kGroup - 2];

    /// From group `first` on.
    HWY_INLINE GroupRows(const PackedBlock& block, const float* r, std::size_t first)
        : pairs(r + 2 * first) {
        const float* at = pairs + (block.butterfly_rows() - first);
        for (const float*& single : singles) {
            single = at;
            at += block.groups;
            HideOrigin(single);  // g++ 12 multiplied in vectors
        }
    }
};

/// All signed sums of a group of rows: those that add the first row, and their minus. Rounded as a
/// chain from the first rows on.
HWY_INLINE GroupTable MakeTable(const GroupRows& rows, std::size_t group, const V* signs) {
    const D d;
    // Difference and sum in alternate lanes: bit 0 chooses between them.
    double pair;
    std::memcpy(&pair, rows.pairs + 2 * group, sizeof pair);
    V sum = hn::BitCast(d, hn::Set(hn::Repartition<double, D>(), pair));
    if constexpr (kTableVectors == 1) sum = hn::Mul(signs[0], sum);
    ForEach<kGroup - 2>([&](auto b) HWY_ATTR {
        sum = hn::MulAdd(signs[b + 1], hn::Set(d, rows.singles[b][group]), sum);
    });
    GroupTable table;
    table.entries[0] = sum;
    if constexpr (kTableVectors == 2) table.entries[1] = hn::Neg(sum);
    return table;
}

/// `count` tables.
HWY_INLINE void MakeTables(const GroupRows& rows, std::size_t count, GroupTable* tables) {
    const EntrySigns* entry_signs = &kEntrySigns;
    HideOrigin(
        entry_signs);  // read for every signal: kept, they would take registers from the tables
    V signs[kGroup - 1];
    for (std::size_t b = 0; b + 1 < kGroup; ++b) signs[b] = hn::Load(D(), entry_signs->values[b]);
    for (std::size_t g = 0; g < count; ++g) tables[g] = MakeTable(rows, g, signs);
}

/// Groups whose tables registers hold at a time.
constexpr std::size_t kPassGroups = kPassWords * kGroups;

/// One group's entries. Those of two planes are added to each other first: where they cancel, as a
/// ternary link of zero has it, they leave nothing behind.
template <std::size_t kAt, std::size_t kPlanes>
HWY_INLINE V Entries(const GroupTable& table, const VU* words) {
    V entry = LookUp<kGroup * kAt>(table, words[0]);
    if constexpr (kPlanes == 2) entry = hn::Add(entry, LookUp<kGroup * kAt>(table, words[1]));
    return entry;
}
/// The entries of a word's groups from the last one on: the first, which needs no shift, may then
/// overwrite the word. Begins once `after`, if there is any, is known.
template <class DN, std::size_t kPlanes, std::size_t... kAt>
HWY_INLINE hn::Vec<DN> SumWord(const GroupTable* tables, const std::uint32_t* HWY_RESTRICT words,
                               std::size_t plane_size, hn::Vec<DN>* after,
                               std::index_sequence<0, kAt...>) {
    constexpr std::size_t kLast = sizeof...(kAt);
    VU planes[kPlanes];
    for (std::size_t p = 0; p < kPlanes; ++p) {
        planes[p] = hn::Load(DU(), words + p * plane_size);
        // g++ 12 read it again for every shift, and mixed words until it had too few registers.
        if (after == nullptr)
            HoldInRegister(planes[p]);
        else
            HoldInRegisters(planes[p], *after);
    }
    hn::Vec<DN> sum = FirstLanes(DN(), Entries<kLast, kPlanes>(tables[kLast], planes));
    ((sum = hn::Add(sum,
                    FirstLanes(DN(), Entries<kLast - kAt, kPlanes>(tables[kLast - kAt], planes)))),
     ...);
    return sum;
}

/// The signed sums of kUsed groups for the columns of one vector, added to `before`, if there is
/// any. A word is summed up before it is added, so that rounding grows with words and not with
/// rows.
template <class DN, std::size_t kPlanes, bool kFirst, std::size_t kUsed>
HWY_INLINE hn::Vec<DN> SumPass(const GroupTable (&tables)[kUsed], const std::uint32_t* words,
                               std::size_t stride, std::size_t plane_size, const float* before) {
    hn::Vec<DN> sum = SumWord<DN, kPlanes>(tables, words, plane_size, nullptr,
                                           std::make_index_sequence<std::min(kUsed, kGroups)>());
    if constexpr (!kFirst) sum = hn::Add(hn::Load(DN(), before), sum);
    if constexpr (kUsed > kGroups) {
        const hn::Vec<DN> second =
            SumWord<DN, kPlanes>(tables + kGroups, words + stride, plane_size, &sum,
                                 std::make_index_sequence<kUsed - kGroups>());
        sum = hn::Add(sum, second);
    }
    return sum;
}

/// q (+)= the signed sums of some groups from `first` on.
template <std::size_t kPlanes, std::size_t kUsed>
HWY_NOINLINE void AddPass(const PackedBlock& block, const std::uint32_t* words,
                          const Signal& signal, std::size_t first) {
    GroupTable tables[kUsed];
    MakeTables(GroupRows(block, signal.r, first), kUsed, tables);
    const auto run = [&, stride = block.stride, plane_size = block.plane_size(),
                      q = signal.q]<bool kFirst>(std::bool_constant<kFirst>) HWY_ATTR {
        for (std::size_t j = 0; j < stride; j += kLanes)
            hn::Store(SumPass<D, kPlanes, kFirst>(tables, words + j, stride, plane_size, q + j),
                      D(), q + j);
    };
    first == 0 ? run(std::true_type()) : run(std::false_type());
}

/// What the last pass leaves in the place of x: x itself of soft thresholds, for other activations
/// what they are applied to. These would take registers from the tables, and their comparisons one
/// after the other make vectors wait for each other; a kernel for each of them takes long to
/// compile.
enum class PassResult { soft, input };

/// The last of the sums.
template <bool kPlain, PassResult kResult, std::size_t kUsed, bool kFirst>
HWY_INLINE void FinishSignal(const PackedBlock& block, const PackedLayer& layer,
                             const std::uint32_t* words, const Signal& signal, std::size_t first) {
    GroupTable tables[kUsed];
    MakeTables(GroupRows(block, signal.r, first), kUsed, tables);
    EntryStep<kPlain, Shrink{Activation::soft}> step(block, layer, signal);
    // Written out: with one lambda for both lengths of vectors it all took 4 % more (g++ 12).
    const std::size_t stride = block.stride;
    const float* q = signal.q;
    std::size_t j = 0;
    for (; j + kLanes < stride; j += kLanes) {
        const V z = step.Input(D(), j, SumPass<D, 1, kFirst>(tables, words + j, stride, 0, q + j));
        if constexpr (kResult == PassResult::soft)
            step.Finish(D(), j, z);
        else
            hn::Store(z, D(), step.x2 + j);
    }
    // Shorter vectors take as long, but they do not lower the processor's clock.
    using Short = hn::Half<D>;
    if (kFirst && block.n - j <= kLanes / 2) {
        const auto z =
            step.Input(Short(), j, SumPass<Short, 1, kFirst>(tables, words + j, stride, 0, q + j));
        if constexpr (kResult == PassResult::soft)
            step.FinishLast(Short(), j, z, block.n - j, signal);
        else
            hn::Store(z, Short(), step.x2 + j);
    } else {
        const V z = step.Input(D(), j, SumPass<D, 1, kFirst>(tables, words + j, stride, 0, q + j));
        if constexpr (kResult == PassResult::soft)
            step.FinishLast(D(), j, z, block.n - j, signal);
        else
            hn::Store(z, D(), step.x2 + j);
    }
}
/// Of several signals where they are the first sums, too.
template <bool kPlain, PassResult kResult, std::size_t kUsed>
HWY_NOINLINE void FinishPass(const PackedBlock& block, const PackedLayer& layer,
                             const std::uint32_t* words, const Signal* signals, std::size_t count,
                             std::size_t first) {
    if (first == 0)
        for (std::size_t i = 0; i < count; ++i)
            FinishSignal<kPlain, kResult, kUsed, true>(block, layer, words, signals[i], 0);
    else
        FinishSignal<kPlain, kResult, kUsed, false>(block, layer, words, *signals, first);
}

using AddPassFunction = void (*)(const PackedBlock&, const std::uint32_t*, const Signal&,
                                 std::size_t);
using FinishPassFunction = void (*)(const PackedBlock&, const PackedLayer&, const std::uint32_t*,
                                    const Signal*, std::size_t, std::size_t);

inline AddPassFunction AddPassOf(std::size_t planes, std::size_t used) {
    return WithStaticCount<kPassGroups>(used, [&](auto count) -> AddPassFunction {
        constexpr std::size_t kUsed = decltype(count)::value;
        return planes == 1 ? &AddPass<1, kUsed> : &AddPass<2, kUsed>;
    });
}
template <bool kPlain, PassResult kResult>
FinishPassFunction FinishPassOf(std::size_t used) {
    return WithStaticCount<kPassGroups>(used, [](auto count) -> FinishPassFunction {
        return &FinishPass<kPlain, kResult, decltype(count)::value>;
    });
}

/// x of a layer from its r, for some signals: passes over all columns with the tables of some rows
/// each.
template <bool kPlain, Shrink kShrink>
class FloatLayers {
public:
    explicit FloatLayers(const PackedBlock& block) {
        passes_ = (block.groups + kPassGroups - 1) / kPassGroups;
        const std::size_t left = block.groups - (passes_ - 1) * kPassGroups;
        pass_ = AddPassOf(block.planes, kPassGroups);
        last_ = AddPassOf(block.planes, left);
        if constexpr (kFusesEntries)
            if (block.planes == 1 && block.channel_scales.empty())
                finish_ = FinishPassOf<kPlain, kResult>(left);
    }

    HWY_INLINE void operator()(const PackedBlock& block, std::size_t k, const std::uint32_t* words,
                               const Signal* signals, std::size_t count) const {
        const PackedLayer& layer = block.layers[k];
        if (passes_ == 1 && finish_ != nullptr)
            finish_(block, layer, words, signals, count, 0);
        else
            for (std::size_t i = 0; i < count; ++i) InPasses(block, k, words, signals[i]);
        if constexpr (kFusesEntries && kResult == PassResult::input && !kShrink.sites)
            if (finish_ != nullptr)
                for (std::size_t i = 0; i < count; ++i)
                    ShrinkInputs<kPlain, kShrink>(block, layer, signals[i]);
    }

private:
    static constexpr PassResult kResult =
        kShrink.activation == Activation::soft ? PassResult::soft : PassResult::input;

    HWY_INLINE void InPasses(const PackedBlock& block, std::size_t k, const std::uint32_t* words,
                             const Signal& signal) const {
        std::size_t group = 0;
        for (std::size_t pass = 1; pass < passes_; ++pass) {
            pass_(block, words, signal, group);
            words += kPassWords * block.stride;
            group += kPassGroups;
        }
        if (finish_ != nullptr) {
            finish_(block, block.layers[k], words, &signal, 1, group);
        } else {
            last_(block, words, signal, group);
            if constexpr (kShrink.sites)
                StoreInputs<kPlain>(block, k, signal);
            else
                FinishLayer<kPlain, kShrink>(block, k, signal);
        }
    }

    std::size_t passes_;
    AddPassFunction pass_;
    AddPassFunction last_;
    FinishPassFunction finish_ = nullptr;
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
