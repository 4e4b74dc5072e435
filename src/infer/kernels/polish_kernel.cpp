#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "algebra/centre.hpp"
#include "algebra/polish.hpp"
#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/polish_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "infer/kernels/support_writer-inl.hpp"

#ifndef PIBINN_INFER_POLISH_SPACE
#define PIBINN_INFER_POLISH_SPACE
namespace pibinn {

/// Working memory of one polish: columns of the support and vectors beside them.
struct PolishSpace {
    static constexpr std::size_t kLine = 16;
    static constexpr std::size_t lines(std::size_t count) {
        return (count + kLine - 1) / kLine * kLine;
    }

    std::size_t rows;                  ///< stored, up to whole cache lines
    float *r, *q;                      ///< rows
    float* x;                          ///< columns of the block, or magnitudes of its sites
    float *found, *direction, *slope;  ///< entries of the support
    std::uint32_t* support;            ///< columns, with a vector of room behind them
    float* columns;                    ///< [entry][rows]
    float* end;

    PolishSpace(const PackedBlock& block, float* at) : rows(lines(block.stored_rows())) {
        const std::size_t most = lines(std::min(block.m, block.n));
        r = at;
        q = r + rows;
        x = q + rows;
        found = x + lines(block.n);
        direction = found + most;
        slope = direction + most;
        support = reinterpret_cast<std::uint32_t*>(slope + most);
        columns = slope + most + lines(block.n + kLine);
        end = columns + std::min(block.m, block.n) * rows;
    }
};

}  // namespace pibinn
#endif

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

namespace polish {

using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr std::size_t kLanes = hn::MaxLanes(D());

// Rows of a butterfly, difference and sum, have twice the squared length of the rows they stand
// for.
constexpr float kButterflyWeight = 0.70710678F;

/// An entry of A of a block of signs.
HWY_INLINE float SignedEntry(const PackedBlock& block, std::size_t j, std::size_t i) {
    const std::size_t bit = 4 * (i % 16) + i % 64 / 16;
    const bool plus = (block.row_signs[j * block.row_blocks() + i / 64] >> bit & 1) != 0;
    return plus ? block.sign_size : -block.sign_size;
}

/// Column j of A. Where it is stored with butterflies they stay, at a weight that leaves all
/// products of rows as they are.
HWY_INLINE void ReadColumn(const PackedBlock& block, std::size_t j, std::size_t rows, float* to) {
    std::fill_n(to, rows, 0.0F);
    if (!block.full()) {
        for (std::size_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l)
            to[block.rows[l]] = block.a[l];
        if (block.centre) centre({to, block.m});
        return;
    }
    if (block.has_sign_columns()) {
        for (std::size_t i = 0; i < block.m; ++i) to[i] = SignedEntry(block, j, i);
        return;
    }
    const std::size_t left = block.stored_rows() - block.main_rows;
    for (std::size_t i = 0; i < block.main_rows; ++i) to[i] = block.a[j * block.main_rows + i];
    for (std::size_t i = 0; i < left; ++i)
        to[block.main_rows + i] = block.tail[j * block.tail_stride + i];
    for (std::size_t i = 0; i < block.butterfly_rows(); ++i) to[i] *= kButterflyWeight;
}

/// The measurements in the order of these columns.
HWY_INLINE void ReadMeasurements(const PackedBlock& block, const float* y, std::size_t rows,
                                 float* to) {
    std::fill_n(to, rows, 0.0F);
    for (std::size_t i = 0; i < block.m; ++i) to[i] = y[i];
    if (block.centre) centre({to, block.m});
    if (!block.full() || block.has_sign_columns()) return;
    for (std::size_t i = 0; i < block.butterfly_rows(); i += 2) {
        const float first = to[i], second = to[i + 1];
        to[i] = kButterflyWeight * (first - second);
        to[i + 1] = kButterflyWeight * (first + second);
    }
}

/// Lane sums in a fixed order.
HWY_INLINE float SumOf(V v) {
    alignas(64) float lanes[kLanes];
    hn::Store(v, D(), lanes);
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
        for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    return lanes[0];
}

HWY_INLINE float SquaredNorm(const float* a, std::size_t count) {
    V sum = hn::Zero(D());
    for (std::size_t i = 0; i < count; i += kLanes) {
        const V v = hn::Load(D(), a + i);
        sum = hn::MulAdd(v, v, sum);
    }
    return SumOf(sum);
}

/// ||factor A_S||^2; the factor goes in first, since squares of the columns alone may overflow.
HWY_INLINE float SquaredColumns(const PolishSpace& space, std::size_t count, float factor) {
    const D d;
    const V by = hn::Set(d, factor);
    V sum = hn::Zero(d);
    for (std::size_t i = 0; i < count * space.rows; i += kLanes) {
        const V v = hn::Mul(by, hn::Load(d, space.columns + i));
        sum = hn::MulAdd(v, v, sum);
    }
    return SumOf(sum);
}

/// to += factor times the columns, four at a time, so that it is read and written once for four.
HWY_INLINE void AddColumns(const PolishSpace& space, std::size_t count, const float* entries,
                           float factor, float* HWY_RESTRICT to) {
    const D d;
    std::size_t e = 0;
    for (; e + 4 <= count; e += 4) {
        const float* column = space.columns + e * space.rows;
        const V a = hn::Set(d, factor * entries[e]), b = hn::Set(d, factor * entries[e + 1]);
        const V c = hn::Set(d, factor * entries[e + 2]), f = hn::Set(d, factor * entries[e + 3]);
        for (std::size_t i = 0; i < space.rows; i += kLanes) {
            V sum = hn::MulAdd(a, hn::Load(d, column + i), hn::Load(d, to + i));
            sum = hn::MulAdd(b, hn::Load(d, column + space.rows + i), sum);
            sum = hn::MulAdd(c, hn::Load(d, column + 2 * space.rows + i), sum);
            hn::Store(hn::MulAdd(f, hn::Load(d, column + 3 * space.rows + i), sum), d, to + i);
        }
    }
    for (; e < count; ++e) {
        const V a = hn::Set(d, factor * entries[e]);
        for (std::size_t i = 0; i < space.rows; i += kLanes)
            hn::Store(
                hn::MulAdd(a, hn::Load(d, space.columns + e * space.rows + i), hn::Load(d, to + i)),
                d, to + i);
    }
}

/// The products of the columns with r, times a factor.
HWY_INLINE void MultiplyColumns(const PolishSpace& space, std::size_t count, float factor,
                                float* HWY_RESTRICT to) {
    const D d;
    for (std::size_t e = 0; e < count; e += 4) {
        const std::size_t some = std::min<std::size_t>(4, count - e);
        const float* columns[4];
        V sums[4];
        for (std::size_t l = 0; l < 4; ++l) {
            columns[l] = space.columns + (e + std::min(l, some - 1)) * space.rows;
            sums[l] = hn::Zero(d);
        }
        for (std::size_t i = 0; i < space.rows; i += kLanes) {
            const V r = hn::Load(d, space.r + i);
            for (std::size_t l = 0; l < 4; ++l)
                sums[l] = hn::MulAdd(r, hn::Load(d, columns[l] + i), sums[l]);
        }
        for (std::size_t l = 0; l < some; ++l) to[e + l] = factor * SumOf(sums[l]);
    }
}

/// The rows of a group at which polish is.
struct Rows {
    const RecoverArgs& args;
    std::size_t first;

    const float* Y(std::size_t e) const { return args.y + (first + e) * args.y_stride; }
    float* X(std::size_t e) const { return args.x + (first + e) * args.x_stride; }
};

/// The largest magnitude of one row, which stands in space.x then, with zeros behind it. Infinity
/// where it holds what is no number.
HWY_INLINE float Largest(const PackedBlock& block, const float* x, const PolishSpace& space) {
    const D d;
    const std::size_t n = PolishSpace::lines(block.n);
    std::fill_n(space.x, n, 0.0F);
    std::copy_n(x, block.n, space.x);
    V most = hn::Zero(d);
    auto all_finite = hn::Eq(most, most);
    for (std::size_t j = 0; j < n; j += kLanes) {
        const V size = hn::Abs(hn::Load(d, space.x + j));
        all_finite = hn::And(all_finite, hn::Lt(size, hn::Inf(d)));
        most = hn::Max(most, size);
    }
    if (!hn::AllTrue(d, all_finite)) return std::numeric_limits<float>::infinity();
    return hn::GetLane(hn::MaxOfLanes(d, most));
}

HWY_INLINE void AddSquares(const float* HWY_RESTRICT x, std::size_t count, float factor,
                           float* HWY_RESTRICT to) {
    for (std::size_t i = 0; i < count; ++i) to[i] += factor * x[i] * (factor * x[i]);
}

/// The magnitudes of sites, of which each row has several entries or each of several rows one, to
/// space.x, in a unit of their own. Returns the largest of them, infinity where some are no
/// numbers.
HWY_INLINE float SiteSizes(const PackedBlock& block, const Rows& rows, const PolishSpace& space) {
    const D d;
    const Grouping& grouping = block.sites.grouping;
    float most = 0;
    for (std::size_t e = 0; e < grouping.rows; ++e)
        most = std::max(most, Largest(block, rows.X(e), space));
    if (!(most <= std::numeric_limits<float>::max())) return most;
    const float per_x = 1 / polish_unit({&most, 1});
    const std::size_t count = block.site_count(), padded = PolishSpace::lines(count);
    std::fill_n(space.x, padded, 0.0F);
    for (std::size_t e = 0; e < grouping.rows; ++e)
        for (std::size_t half = 0; half < grouping.halves; ++half)
            AddSquares(rows.X(e) + half * count, count, per_x, space.x);
    V largest = hn::Zero(d);
    for (std::size_t i = 0; i < padded; i += kLanes) {
        const V size = hn::Sqrt(hn::Load(d, space.x + i));
        hn::Store(size, d, space.x + i);
        largest = hn::Max(largest, size);
    }
    return hn::GetLane(hn::MaxOfLanes(d, largest));
}

/// The columns of the support: of sites beyond a share of the largest. None where x holds what is
/// no number.
HWY_INLINE std::size_t FindSupport(const PackedBlock& block, const Rows& rows,
                                   const PolishSpace& space) {
    const D d;
    const float most = block.sites.grouping.trivial() ? Largest(block, rows.X(0), space)
                                                      : SiteSizes(block, rows, space);
    if (!(most <= std::numeric_limits<float>::max())) return 0;
    const V beyond = hn::Set(d, block.cut * most);
    const std::size_t sites = block.site_count();
    SupportWriter<D> support(space.support);
    for (std::size_t i = 0; i < PolishSpace::lines(sites); i += kLanes)
        support.Add(i, hn::Gt(hn::Abs(hn::Load(d, space.x + i)), beyond));
    const std::size_t found = support.Finish();
    for (std::size_t half = 1; half < block.sites.grouping.halves; ++half)
        for (std::size_t e = 0; e < found; ++e)
            space.support[half * found + e] =
                space.support[e] + static_cast<std::uint32_t>(half * sites);
    return found * block.sites.grouping.halves;
}

/// Conjugate gradients for ||y - A_S x_S||^2 of one row, as algebra/polish.cpp has them, in the
/// units of the first column and of y: powers of two, by which only short vectors are multiplied.
/// `rounded` is kRounded ||per_a A_S||^2.
HWY_INLINE void Solve(const PackedBlock& block, const PolishSpace& space, std::size_t count,
                      float per_a, float rounded, const float* y, float* x) {
    const float y_unit = polish_unit({y, block.m});
    for (std::size_t e = 0; e < count; ++e) space.found[e] = x[space.support[e]] / y_unit / per_a;
    const std::size_t padded = PolishSpace::lines(count);
    std::fill(space.slope + count, space.slope + padded, 0.0F);
    ReadMeasurements(block, y, space.rows, space.r);
    for (std::size_t i = 0; i < space.rows; ++i) space.r[i] /= y_unit;
    AddColumns(space, count, space.found, -per_a, space.r);
    MultiplyColumns(space, count, per_a, space.slope);
    std::copy_n(space.slope, count, space.direction);
    float gamma = SquaredNorm(space.slope, padded);
    const float enough = kPolished * gamma;
    for (std::size_t step = 0; step < block.polish && gamma > enough &&
                               gamma > rounded * SquaredNorm(space.r, space.rows);
         ++step) {
        std::fill_n(space.q, space.rows, 0.0F);
        AddColumns(space, count, space.direction, per_a, space.q);
        const float alpha = gamma / SquaredNorm(space.q, space.rows);
        if (!(std::abs(alpha) <= std::numeric_limits<float>::max())) break;  // columns that cancel
        for (std::size_t e = 0; e < count; ++e) space.found[e] += alpha * space.direction[e];
        for (std::size_t i = 0; i < space.rows; ++i) space.r[i] -= alpha * space.q[i];
        MultiplyColumns(space, count, per_a, space.slope);
        const float next = SquaredNorm(space.slope, padded);
        const float turn = next / gamma;
        for (std::size_t e = 0; e < count; ++e)
            space.direction[e] = space.slope[e] + turn * space.direction[e];
        gamma = next;
    }
    std::fill_n(x, block.n, 0.0F);
    for (std::size_t e = 0; e < count; ++e) x[space.support[e]] = space.found[e] * y_unit * per_a;
}

void Run(const RecoverArgs& args) {
    const PackedBlock& block = args.block;
    const PolishSpace space(block, args.workspace);
    for (Rows rows{args, 0}; rows.first < args.rows; rows.first += block.sites.grouping.rows) {
        const std::size_t count = FindSupport(block, rows, space);
        if (count == 0 || count > block.m) continue;
        for (std::size_t e = 0; e < count; ++e)
            ReadColumn(block, space.support[e], space.rows, space.columns + e * space.rows);
        const float per_a = 1 / polish_unit({space.columns, space.rows});
        const float rounded = kRounded * SquaredColumns(space, count, per_a);
        for (std::size_t e = 0; e < block.sites.grouping.rows; ++e)
            Solve(block, space, count, per_a, rounded, rows.Y(e), rows.X(e));
    }
}

}  // namespace polish

PolishKernel FindPolishKernel() { return &polish::Run; }

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn {

HWY_EXPORT(FindPolishKernel);

PolishKernel polish_kernel(std::int64_t target) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return HWY_DISPATCH_TABLE(FindPolishKernel)[chosen.GetIndex()]();
}

std::size_t polish_workspace_floats(const PackedBlock& block) {
    if (block.polish == 0) return 0;
    float* const start =
        reinterpret_cast<float*>(std::uintptr_t{AlignedAllocator<float>::alignment});
    return static_cast<std::size_t>(PolishSpace(block, start).end - start);
}

}  // namespace pibinn
#endif
