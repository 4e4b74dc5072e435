// A x of signals side by side. Included once for every target.

#if defined(PIBINN_INFER_TILE_MEASURE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_TILE_MEASURE_INL
#undef PIBINN_INFER_TILE_MEASURE_INL
#else
#define PIBINN_INFER_TILE_MEASURE_INL
#endif

#include <algorithm>

#include <hwy/highway.h>

#include "infer/kernels/sign_columns-inl.hpp"
#include "infer/kernels/tile_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// What can be done with kWidth signals side by side.
template <std::size_t kWidth>
struct Tile : TileProducts<kWidth> {
    using Products = TileProducts<kWidth>;
    using Products::kLanes;
    using Products::kVectors;
    using typename Products::D;
    using typename Products::V;
    using typename Products::Wide;

    /// Columns in which any signal is alive.
    static HWY_INLINE std::size_t ActiveColumns(const TileWorkspace& s) {
        std::size_t active = 0;
        for (std::size_t c = 0; c < s.support_count; ++c) {
            const auto j = static_cast<std::uint32_t>(s.support[c] / kWidth);
            if (active == 0 || s.active[active - 1] != j) s.active[active++] = j;
        }
        return active;
    }

    static HWY_INLINE void Multiply(float factor, const float* HWY_RESTRICT from, std::size_t count,
                                    float* HWY_RESTRICT to) {
        for (std::size_t i = 0; i < count; ++i) to[i] = factor * from[i];
    }

    /// Takes column j of a mask off one signal's e1, if its rows stand side by side, as those of a
    /// convolution do.
    static HWY_INLINE bool SubtractRun(const PackedBlock& block, std::size_t j,
                                       const TileWorkspace& s) {
        const Wide d;
        constexpr std::size_t lanes = hn::MaxLanes(Wide());
        std::size_t l = block.offsets[j];
        const std::size_t end = block.offsets[j + 1];
        if (block.rows[end - 1] - block.rows[l] != end - 1 - l || end - l < lanes) return false;
        const auto x = hn::Set(d, s.x1[j]);
        float* e = s.e1 + block.rows[l];
        for (; l + lanes <= end; l += lanes, e += lanes)
            hn::StoreU(hn::NegMulAdd(hn::LoadU(d, &block.a[l]), x, hn::LoadU(d, e)), d, e);
        const hn::CappedTag<float, 1> one;
        for (; l < end; ++l, ++e)
            hn::StoreU(hn::NegMulAdd(hn::LoadU(one, &block.a[l]), hn::Set(one, s.x1[j]),
                                     hn::LoadU(one, e)),
                       one, e);
        return true;
    }

    /// e1 = y_factor y - A x1 for masks, row by row: its sums stay in registers. Columns ascend in
    /// every row, as they do column by column, and a zero takes nothing off: both ways give the
    /// same bits.
    static HWY_NOINLINE void MeasureRows(const PackedBlock& block, float y_factor,
                                         const TileWorkspace& s) {
        const D d;
        const V factor = hn::Set(d, y_factor);
        const std::uint32_t* HWY_RESTRICT offsets = block.row_offsets.data();
        const std::uint32_t* HWY_RESTRICT columns = block.row_columns.data();
        const float* HWY_RESTRICT links = block.row_a.data();
        const float* HWY_RESTRICT x1 = s.x1;
        for (std::size_t i = 0; i < block.m; ++i) {
            V sums[kVectors];
            for (std::size_t v = 0; v < kVectors; ++v)
                sums[v] = hn::Mul(factor, hn::Load(d, s.y + i * kWidth + v * kLanes));
            for (std::size_t l = offsets[i]; l < offsets[i + 1]; ++l) {
                const V a = hn::Set(d, links[l]);
                const float* x = x1 + columns[l] * kWidth;
                for (std::size_t v = 0; v < kVectors; ++v)
                    sums[v] = hn::NegMulAdd(a, hn::Load(d, x + v * kLanes), sums[v]);
            }
            for (std::size_t v = 0; v < kVectors; ++v)
                hn::Store(sums[v], d, s.e1 + i * kWidth + v * kLanes);
        }
    }

    /// e1 = y_factor y - A x1 for masks: columns that are zero in all signals are left out.
    static HWY_INLINE void MeasureLinks(const PackedBlock& block, float y_factor,
                                        const TileWorkspace& s) {
        const D d;
        // A link of a column is read and written, a link of a row is read alone: twice as fast.
        // With an entry for every column most columns are active.
        if constexpr (kWidth > 1)
            if (s.support_count >= block.n) return MeasureRows(block, y_factor, s);
        const std::size_t active = ActiveColumns(s);
        Multiply(y_factor, s.y, block.m * kWidth, s.e1);
        const float* HWY_RESTRICT links = block.a.data();
        const std::uint32_t* HWY_RESTRICT rows = block.rows.data();
        float* HWY_RESTRICT e1 = s.e1;
        for (std::size_t c = 0; c < active; ++c) {
            const std::size_t j = s.active[c];
            if constexpr (kWidth == 1)
                if (SubtractRun(block, j, s)) continue;
            V x[kVectors];
            for (std::size_t v = 0; v < kVectors; ++v)
                x[v] = hn::Load(d, s.x1 + j * kWidth + v * kLanes);
            const std::size_t end = block.offsets[j + 1];
            for (std::size_t l = block.offsets[j]; l < end; ++l) {
                const V a = hn::Set(d, links[l]);
                float* e = e1 + rows[l] * kWidth;
                for (std::size_t v = 0; v < kVectors; ++v)
                    hn::Store(hn::NegMulAdd(a, x[v], hn::Load(d, e + v * kLanes)), d,
                              e + v * kLanes);
            }
        }
    }

    /// e1 = y_factor y - A x1, entry by entry of the supports.
    static HWY_NOINLINE void MeasureSupports(const PackedBlock& block, float y_factor,
                                             const TileWorkspace& s) {
        const Wide d;
        constexpr std::size_t lanes = hn::MaxLanes(Wide());
        const std::size_t main_rows = block.main_rows;
        const std::size_t tail_stride = block.tail_stride;
        const std::size_t stride = block.padded_rows(kLayout);
        const std::size_t count = s.support_count;
        const std::uint32_t* HWY_RESTRICT support = s.support;
        const float* HWY_RESTRICT x = s.x1;
        const float* HWY_RESTRICT a = block.a.data();
        const float* HWY_RESTRICT tail = block.tail.data();
        float* HWY_RESTRICT e = kWidth == 1 ? s.e1 : s.e_by_signal;
        Multiply(y_factor, kWidth == 1 ? s.y : s.y_by_signal, stride * kWidth, e);
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t at = support[c];
            const auto factor = hn::Set(d, x[at]);
            const float* HWY_RESTRICT column = a + at / kWidth * main_rows;
            const float* HWY_RESTRICT rest = tail + at / kWidth * tail_stride;
            float* HWY_RESTRICT to = e + at % kWidth * stride;
            for (std::size_t i = 0; i < main_rows; i += lanes)
                hn::Store(hn::NegMulAdd(hn::Load(d, column + i), factor, hn::Load(d, to + i)), d,
                          to + i);
            for (std::size_t i = 0; i < tail_stride; i += lanes)
                hn::Store(
                    hn::NegMulAdd(hn::LoadU(d, rest + i), factor, hn::Load(d, to + main_rows + i)),
                    d, to + main_rows + i);
        }
        if constexpr (kWidth > 1)
            cpu::HWY_NAMESPACE::Transpose(kWidth, block.stored_rows(), e, stride, s.e1, kWidth);
    }

#if PIBINN_SIGN_COLUMNS

    /// e1 = y_factor y - A x1 where A is of signs, signal by signal, as the vector kernel does it.
    static HWY_NOINLINE void MeasureSigns(const PackedBlock& block, float y_factor,
                                          const TileWorkspace& s) {
        const Wide d;
        constexpr std::size_t lanes = hn::MaxLanes(Wide());
        const std::size_t stride = block.padded_rows(kLayout);
        const SignColumnSpace& space = s.sign_columns;
        float* e = kWidth == 1 ? s.e1 : s.e_by_signal;
        const float* y = kWidth == 1 ? s.y : s.y_by_signal;
        const auto size = hn::Set(d, block.sign_size);
        const auto factor = hn::Set(d, y_factor);
        for (std::size_t signal = 0; signal < kWidth; ++signal, e += stride, y += stride) {
            std::size_t count = 0;
            for (std::size_t c = 0; c < s.support_count; ++c)
                if (s.support[c] % kWidth == signal)
                    space.columns[count++] = static_cast<std::uint32_t>(s.support[c] / kWidth);
            MultiplySignColumns(block, space.columns, count, s.x1 + signal, kWidth, space);
            for (std::size_t i = 0; i < block.m; i += lanes) {
                auto misfit = hn::NegMulAdd(size, StoredSums(space, block.butterfly_rows(), i),
                                            hn::Mul(factor, hn::Load(d, y + i)));
                if (i + lanes > block.m)
                    misfit = hn::IfThenElseZero(hn::FirstN(d, block.m - i), misfit);
                hn::Store(misfit, d, e + i);
            }
        }
        if constexpr (kWidth > 1)
            cpu::HWY_NAMESPACE::Transpose(kWidth, block.stored_rows(), s.e_by_signal, stride, s.e1,
                                          kWidth);
    }

#endif

    /// e1 = y_factor y - A x1 over the columns in which any signal is alive. A zero takes nothing
    /// off, so that every signal gets the bits it would get alone.
    static HWY_NOINLINE void MeasureTogether(const PackedBlock& block, float y_factor,
                                             const TileWorkspace& s) {
        constexpr std::size_t kRows = kVectors < 8 ? 8 / kVectors : 1;
        const D d;
        const V y_factors = hn::Set(d, y_factor);
        const std::size_t active = ActiveColumns(s);
        const std::uint32_t* HWY_RESTRICT columns = s.active;
        const float* HWY_RESTRICT x1 = s.x1;
        for (std::size_t i = 0; i < block.stored_rows(); i += kRows) {
            const bool main = i < block.main_rows;
            const std::size_t stride = main ? block.main_rows : block.tail_stride;
            const float* HWY_RESTRICT first =
                main ? block.a.data() + i : block.tail.data() + i - block.main_rows;
            V sums[kRows][kVectors];
            for (std::size_t l = 0; l < kRows; ++l)
                for (std::size_t v = 0; v < kVectors; ++v)
                    sums[l][v] =
                        hn::Mul(y_factors, hn::Load(d, s.y + (i + l) * kWidth + v * kLanes));
            for (std::size_t c = 0; c < active; ++c) {
                const float* a = first + columns[c] * stride;
                const float* x = x1 + columns[c] * kWidth;
                V entry[kVectors];
                for (std::size_t v = 0; v < kVectors; ++v) entry[v] = hn::Load(d, x + v * kLanes);
                for (std::size_t l = 0; l < kRows; ++l) {
                    const V factor = hn::Set(d, a[l]);
                    for (std::size_t v = 0; v < kVectors; ++v)
                        sums[l][v] = hn::NegMulAdd(factor, entry[v], sums[l][v]);
                }
            }
            for (std::size_t l = 0; l < kRows; ++l)
                for (std::size_t v = 0; v < kVectors; ++v)
                    hn::Store(sums[l][v], d, s.e1 + (i + l) * kWidth + v * kLanes);
        }
    }

    /// e1 = y_factor y - A x1 for full blocks, the cheaper of the two ways. Neither changes a bit
    /// of the result.
    static HWY_INLINE void Measure(const PackedBlock& block, float y_factor,
                                   const TileWorkspace& s) {
#if PIBINN_SIGN_COLUMNS
        if (block.has_sign_columns()) return MeasureSigns(block, y_factor, s);
#endif
        if constexpr (kWidth == 1) {
            MeasureSupports(block, y_factor, s);
        } else {
            // Cycles, measured on AVX-512: an entry takes 5 a vector of its column and 3 beside
            // (reads of A wait for writes of e), a row of a column of all signals half a cycle a
            // vector.
            constexpr std::size_t wide = hn::MaxLanes(Wide());
            const auto vectors = static_cast<float>((block.m + wide - 1) / wide);
            const auto entries = static_cast<float>(s.support_count);
            const std::size_t active = std::min(block.n, s.support_count);
            const float apart = entries * (5.0F * vectors + 3.0F) + 64.0F * vectors;
            const float together = static_cast<float>(active * block.m * kVectors) * 0.5F;
            if (apart < together)
                MeasureSupports(block, y_factor, s);
            else
                MeasureTogether(block, y_factor, s);
        }
    }
};

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
