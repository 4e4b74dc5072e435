// B^T r of signals side by side. Included once for every target.

#if defined(PIBINN_INFER_TILE_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_TILE_PRODUCTS_INL
#undef PIBINN_INFER_TILE_PRODUCTS_INL
#else
#define PIBINN_INFER_TILE_PRODUCTS_INL
#endif

#include <algorithm>
#include <bit>
#include <utility>

#include <hwy/highway.h>

#include "algebra/cpu/transpose-inl.hpp"
#include "core/static_count.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/tile_workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// The product with the weights for kWidth signals side by side: 16, or 1; of masks also 64.
template <std::size_t kWidth>
struct TileProducts {
    using D = hn::CappedTag<float, kWidth>;
    using V = hn::Vec<D>;
    using Wide = hn::CappedTag<float, 16>;  // for runs of memory of one signal
    static constexpr std::size_t kLanes = hn::MaxLanes(D());
    static constexpr std::size_t kVectors = kWidth / kLanes;
    static constexpr std::size_t kGroup = kLayout.rows_per_group;
    static constexpr std::size_t kGroups = kLayout.groups_per_word;
    static constexpr std::size_t kShift = std::countr_zero(kWidth);
    static_assert(std::size_t{1} << kShift == kWidth);

    /// Stores all signed sums that begin with `sum`, of the rows before kRow, and their minus:
    /// entry by entry, depth first, so that few sums live at a time (as an array they went through
    /// memory twice). Rounded as a chain from the first rows on.
    template <std::size_t kRow, std::size_t kEntry>
    static HWY_INLINE void StoreSums(const V* rows, V sum, float* HWY_RESTRICT to) {
        if constexpr (kRow == kGroup) {
            hn::Store(sum, D(), to + kEntry * kWidth);
            hn::Store(hn::Neg(sum), D(), to + (kEntry + kEntries / 2) * kWidth);
        } else {
            StoreSums<kRow + 1, kEntry>(rows, hn::Sub(sum, rows[kRow]), to);
            StoreSums<kRow + 1, kEntry | std::size_t{1} << (kRow - 1)>(
                rows, hn::Add(sum, rows[kRow]), to);
        }
    }

    /// The tables of some groups.
    static HWY_NOINLINE void MakeTables(const PackedBlock& block, const float* HWY_RESTRICT r,
                                        std::size_t first, std::size_t count,
                                        float* HWY_RESTRICT tables) {
        for (std::size_t g = first; g < first + count; ++g, tables += kEntries * kWidth)
            for (std::size_t v = 0; v < kWidth; v += kLanes) {
                V rows[kGroup];
                for (std::size_t b = 0; b < kGroup; ++b)
                    rows[b] = hn::Load(D(), r + block.group_row(g, b) * kWidth + v);
                StoreSums<2, 0>(rows, rows[0], tables + v);
                StoreSums<2, 1>(rows, rows[1], tables + v);
            }
    }

    /// Two rows by two, as their difference and their sum.
    static HWY_INLINE void MakeButterflies(const PackedBlock& block, float* HWY_RESTRICT rows) {
        for (std::size_t i = 0; i < block.butterfly_rows() * kWidth; i += 2 * kWidth)
            for (std::size_t v = i; v < i + kWidth; v += kLanes) {
                const V first = hn::Load(D(), rows + v);
                const V second = hn::Load(D(), rows + v + kWidth);
                hn::Store(hn::Sub(first, second), D(), rows + v);
                hn::Store(hn::Add(first, second), D(), rows + v + kWidth);
            }
    }

    /// A partial sum of |r|, as the vector kernel adds it up. Of the two rows of a butterfly the
    /// larger absolute value is |r0| + |r1|, which the first row adds.
    static HWY_INLINE V SumAbs(const PackedBlock& block, const float* HWY_RESTRICT r,
                               std::size_t partial) {
        const auto abs = [&](std::size_t i)
                             HWY_ATTR { return hn::Abs(hn::Load(D(), r + i * kWidth)); };
        const std::size_t boundary = FirstAbsRows(block.main_rows, block.tail_stride);
        V first = hn::Zero(D());
        V rest = hn::Zero(D());
        std::size_t i = partial;
        for (; i < block.butterfly_rows(); i += kLayout.partial_sums)
            if (i % 2 == 0) first = hn::Add(first, LargerAbs(abs(i), abs(i + 1)));
        for (; i < std::min(boundary, block.m); i += kLayout.partial_sums)
            first = hn::Add(first, abs(i));
        for (; i < block.m; i += kLayout.partial_sums) rest = hn::Add(rest, abs(i));
        return hn::Add(first, rest);
    }

    /// Where entry `word >> at` stands, in floats: one shift and one mask.
    template <std::size_t kAt>
    static HWY_INLINE std::size_t EntryOffset(std::uint32_t word) {
        constexpr std::uint32_t mask = (kEntries - 1) << kShift;
        // A rotation has an instruction of its own that spares a copy of the word (rorx).
        return std::rotr(word, static_cast<int>(kAt) - static_cast<int>(kShift)) & mask;
    }

    /// One group's entries; of two planes their sum, which is nothing where they cancel.
    template <std::size_t kAt, std::size_t kPlanes, bool kFirst>
    static HWY_INLINE void AddGroup(const float* HWY_RESTRICT tables, const std::uint32_t* words,
                                    V* sums) {
        const float* table = tables + kAt * kEntries * kWidth;
        for (std::size_t v = 0; v < kVectors; ++v) {
            V entry = hn::Load(D(), table + EntryOffset<kAt * kGroup>(words[0]) + v * kLanes);
            if constexpr (kPlanes == 2)
                entry = hn::Add(
                    entry, hn::Load(D(), table + EntryOffset<kAt * kGroup>(words[1]) + v * kLanes));
            sums[v] = kFirst ? entry : hn::Add(sums[v], entry);
        }
    }
    /// From the last group on, as the vector kernel does it.
    template <std::size_t kPlanes, std::size_t... kAt>
    static HWY_INLINE void SumWord(const float* HWY_RESTRICT tables, const std::uint32_t* words,
                                   V* sums, std::index_sequence<kAt...>) {
        (AddGroup<sizeof...(kAt) - 1 - kAt, kPlanes, kAt == 0>(tables, words, sums), ...);
    }
    static HWY_INLINE void AddLookUp(const float* HWY_RESTRICT entry, V* sums) {
        for (std::size_t v = 0; v < kVectors; ++v)
            sums[v] = hn::Add(sums[v], hn::Load(D(), entry + v * kLanes));
    }

    /// q (+)= the signed sums of `words` words, the last of which has `kLast` groups. Each is
    /// summed up before it is added, as the vector kernel does it.
    template <std::size_t kPlanes, std::size_t kLast>
    static HWY_NOINLINE void AddWords(const PackedBlock& block,
                                      const std::uint32_t* HWY_RESTRICT signs, std::size_t words,
                                      const float* HWY_RESTRICT tables, float* HWY_RESTRICT q,
                                      bool first) {
        const std::size_t n = block.n;
        const std::size_t stride = block.stride;
        const std::size_t plane_size = block.plane_size();
        for (std::size_t j = 0; j < n; ++j) {
            V total[kVectors];
            for (std::size_t v = 0; v < kVectors; ++v)
                total[v] = first ? hn::Zero(D()) : hn::Load(D(), q + j * kWidth + v * kLanes);
            for (std::size_t w = 0; w < words; ++w) {
                std::uint32_t word[kPlanes];
                for (std::size_t p = 0; p < kPlanes; ++p)
                    word[p] = signs[p * plane_size + w * stride + j];
                const float* at = tables + w * kGroups * kEntries * kWidth;
                V sums[kVectors];
                if (w + 1 < words)
                    SumWord<kPlanes>(at, word, sums, std::make_index_sequence<kGroups>());
                else
                    SumWord<kPlanes>(at, word, sums, std::make_index_sequence<kLast>());
                for (std::size_t v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], sums[v]);
            }
            for (std::size_t v = 0; v < kVectors; ++v)
                hn::Store(total[v], D(), q + j * kWidth + v * kLanes);
        }
    }

    using AddWordsFunction = void (*)(const PackedBlock&, const std::uint32_t*, std::size_t,
                                      const float*, float*, bool);
    static AddWordsFunction AddWordsOf(std::size_t planes, std::size_t groups) {
        return WithStaticCount<kGroups>(groups, [&](auto count) -> AddWordsFunction {
            constexpr std::size_t kLast = decltype(count)::value;
            return planes == 1 ? &AddWords<1, kLast> : &AddWords<2, kLast>;
        });
    }

    /// q = B^T r for full blocks.
    static HWY_INLINE void TableProduct(const PackedBlock& block, const std::uint32_t* signs,
                                        const TileWorkspace& s) {
        const std::size_t step = words_at_a_time(kLayout, kWidth);
        for (std::size_t begin = 0; begin < block.words; begin += step) {
            const std::size_t end = std::min(block.words, begin + step);
            const std::size_t some = std::min(block.groups, end * kGroups) - begin * kGroups;
            MakeTables(block, s.r, begin * kGroups, some, s.tables);
            const std::size_t last = some - (end - begin - 1) * kGroups;
            AddWordsOf(block.planes, last)(block, signs + begin * block.stride, end - begin,
                                           s.tables, s.q, begin == 0);
        }
    }

    /// q = B^T r for masks; a link that is minus reads -r.
    static HWY_INLINE void LinkProduct(const PackedBlock& block, std::size_t k,
                                       const TileWorkspace& s) {
        const Wide d;
        const std::size_t minus = block.padded_rows(kLayout) * kWidth;
        for (std::size_t i = 0; i < minus; i += hn::MaxLanes(d))
            hn::Store(hn::Neg(hn::Load(d, s.r + i)), d, s.r + minus + i);
        std::fill_n(s.r + 2 * minus, kWidth, 0.0F);
        if (!block.has_link_rows())
            SignedLinks(block, block.layer_signs(k), minus, s);
        else if constexpr (kWidth == 1)
            GatherLinks(block, block.layer_link_rows(k), s);
        else if (block.planes == 1)
            AddLinks<1>(block, block.layer_link_rows(k), s);
        else
            AddLinks<2>(block, block.layer_link_rows(k), s);
    }

    /// Link by link, where rows are too many for link_rows.
    static HWY_NOINLINE void SignedLinks(const PackedBlock& block,
                                         const std::uint32_t* HWY_RESTRICT signs, std::size_t minus,
                                         const TileWorkspace& s) {
        const D d;
        for (std::size_t j = 0; j < block.n; ++j) {
            V sums[kVectors];
            for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
            for (std::size_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l)
                for (std::size_t p = 0; p < block.planes; ++p) {
                    const std::uint32_t bit =
                        signs[p * block.plane_size() + l / 32] >> (l % 32) & 1;
                    AddLookUp(s.r + block.rows[l] * kWidth + (bit != 0 ? 0 : minus), sums);
                }
            for (std::size_t v = 0; v < kVectors; ++v)
                hn::Store(sums[v], d, s.q + j * kWidth + v * kLanes);
        }
    }

    /// Column by column, all signals at a time.
    template <std::size_t kPlanes>
    static HWY_NOINLINE void AddLinks(const PackedBlock& block,
                                      const std::uint16_t* HWY_RESTRICT link_rows,
                                      const TileWorkspace& s) {
        const D d;
        const float* HWY_RESTRICT r = s.r;
        const std::size_t plane_size = block.link_plane_size();
        for (std::size_t j = 0; j < block.n; ++j) {
            const std::size_t count = block.offsets[j + 1] - block.offsets[j];
            const std::uint16_t* at =
                link_rows + std::size_t{16} * block.first_steps[j / 16] + j % 16;
            V sums[kVectors];
            for (std::size_t v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
            for (std::size_t l = 0; l < count; ++l)
                for (std::size_t p = 0; p < kPlanes; ++p)
                    AddLookUp(r + at[16 * l + p * plane_size] * kWidth, sums);
            for (std::size_t v = 0; v < kVectors; ++v)
                hn::Store(sums[v], d, s.q + j * kWidth + v * kLanes);
        }
    }

    /// Of one signal, sixteen columns at a time: lanes are columns.
    static HWY_NOINLINE void GatherLinks(const PackedBlock& block,
                                         const std::uint16_t* HWY_RESTRICT link_rows,
                                         const TileWorkspace& s) {
        const Wide d;
        const hn::RebindToSigned<Wide> di;
        const hn::Rebind<std::uint16_t, Wide> narrow;
        constexpr std::size_t lanes = hn::MaxLanes(Wide());
        for (std::size_t j = 0; j < block.stride; j += lanes) {
            const std::size_t begin = block.first_steps[j / 16];
            const std::size_t end = block.first_steps[j / 16 + 1];
            auto sum = hn::Zero(d);
            for (std::size_t step = begin; step < end; ++step)
                for (std::size_t p = 0; p < block.planes; ++p) {
                    const std::uint16_t* at =
                        link_rows + p * block.link_plane_size() + 16 * step + j % 16;
                    sum = hn::Add(
                        sum, hn::GatherIndex(d, s.r, hn::PromoteTo(di, hn::LoadU(narrow, at))));
                }
            hn::Store(sum, d, s.q + j);
        }
    }
};

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
