// A x over a support where A is of signs. Included once for every target.

#if defined(PIBINN_INFER_SIGN_COLUMNS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SIGN_COLUMNS_INL
#undef PIBINN_INFER_SIGN_COLUMNS_INL
#else
#define PIBINN_INFER_SIGN_COLUMNS_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "infer/kernels/byte_primitives-inl.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/sign_columns.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_SIGN_COLUMNS

/// The sign of entry i of a group in a table's entry of the lane's number: plus where its bit is
/// set.
struct ColumnSigns {
    alignas(64) float values[kGroupColumns - 1][kLanes];

    constexpr ColumnSigns() : values() {
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            for (std::size_t i = 0; i + 1 < kGroupColumns; ++i)
                values[i][lane] = (lane >> i & 1) != 0 ? 1.0F : -1.0F;
    }
};
constexpr ColumnSigns kColumnSigns;

/// All signed sums of five entries of x.
HWY_INLINE void StoreColumnTable(const float (&x)[kGroupColumns], float* to) {
    const D d;
    V sum = hn::Mul(hn::Load(d, kColumnSigns.values[0]), hn::Set(d, x[0]));
    for (std::size_t i = 1; i + 1 < kGroupColumns; ++i)
        sum = hn::MulAdd(hn::Load(d, kColumnSigns.values[i]), hn::Set(d, x[i]), sum);
    const V last = hn::Set(d, x[kGroupColumns - 1]);
    hn::Store(hn::Sub(sum, last), d, to);
    hn::Store(hn::Add(sum, last), d, to + kLanes);
}

/// The tables of `count` columns, in groups, and where the bits of each column begin. The last
/// group is filled up with entries of zero.
HWY_INLINE void MakeColumnTables(const PackedBlock& block, const std::uint32_t* columns,
                                 std::size_t count, const float* x, std::size_t x_stride,
                                 const SignColumnSpace& space) {
    const std::size_t stride = block.row_blocks();
    for (std::size_t c = 0; c < count; c += kGroupColumns) {
        float entries[kGroupColumns];
        for (std::size_t i = 0; i < kGroupColumns; ++i) {
            const bool there = c + i < count;
            const std::uint32_t j = columns[there ? c + i : c];
            entries[i] = there ? x[j * x_stride] : 0.0F;
            space.offsets[c + i] = static_cast<std::uint32_t>(j * stride);
        }
        StoreColumnTable(entries, space.tables + c / kGroupColumns * 2 * kLanes);
    }
}

/// Sums of 64 rows over some groups of columns, whose tables stand in memory.
HWY_INLINE void AddRowBlock(const std::uint64_t* signs, std::size_t groups,
                            const SignColumnSpace& space, bool first, float* to) {
    const D d;
    V sums[4];
    for (std::size_t s = 0; s < 4; ++s)
        sums[s] = first ? hn::Zero(d) : hn::Load(d, to + s * kLanes);
    const std::uint32_t* offset = space.offsets;
    const float* at = space.tables;
    for (std::size_t g = 0; g < groups; ++g, offset += kGroupColumns, at += 2 * kLanes) {
        GroupTable table;
        table.entries[0] = hn::Load(d, at);
        table.entries[1] = hn::Load(d, at + kLanes);
        const VU numbers = TableNumbers(signs, offset);
        sums[0] = hn::Add(sums[0], LookUp<0>(table, numbers));
        sums[1] = hn::Add(sums[1], LookUp<8>(table, numbers));
        sums[2] = hn::Add(sums[2], LookUp<16>(table, numbers));
        sums[3] = hn::Add(sums[3], LookUp<24>(table, numbers));
    }
    for (std::size_t s = 0; s < 4; ++s) hn::Store(sums[s], d, to + s * kLanes);
}

/// space.sums = B x over `count` listed columns, B the signs of A, in the order of its own rows.
/// Entries of x stand `x_stride` apart.
inline HWY_NOINLINE void MultiplySignColumns(const PackedBlock& block, const std::uint32_t* columns,
                                             std::size_t count, const float* x,
                                             std::size_t x_stride, const SignColumnSpace& space) {
    if (count == 0) std::fill_n(space.sums, block.row_blocks() * 64, 0.0F);
    for (std::size_t at = 0; at < count; at += kTabledColumns) {
        const std::size_t some = std::min(kTabledColumns, count - at);
        MakeColumnTables(block, columns + at, some, x, x_stride, space);
        const std::size_t groups = (some + kGroupColumns - 1) / kGroupColumns;
        for (std::size_t b = 0; b < block.row_blocks(); ++b)
            AddRowBlock(block.row_signs.data() + b, groups, space, at == 0, space.sums + b * 64);
    }
}

/// Some rows of the sums as rows are stored: two by two a butterfly, as far as there are any.
HWY_INLINE V StoredSums(const SignColumnSpace& space, std::size_t butterfly_rows, std::size_t i) {
    const V given = hn::Load(D(), space.sums + i);
    if (i >= butterfly_rows) return given;
    const V first = hn::DupEven(given);
    const V second = hn::DupOdd(given);
    const V pairs = hn::OddEven(hn::Add(first, second), hn::Sub(first, second));
    const auto some = hn::FirstN(D(), std::min(butterfly_rows - i, kLanes));
    return hn::IfThenElse(some, pairs, given);
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
