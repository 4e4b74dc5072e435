#include "algebra/cpu/row_kernels.hpp"

#include <algorithm>

#include "algebra/activate.hpp"
#include "core/static_count.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <generated/all_activations-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

void ResidualRows(const ResidualArgs& a) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const V grow = hn::Set(d, 1.0F + a.beta);
    const V back = hn::Set(d, -a.beta);
    for (std::size_t i = 0; i < a.rows; ++i) {
        const std::size_t at = i * a.stride;
        const float carry = a.previous ? a.omega * a.slopes[i] / static_cast<float>(a.m) : 0.0F;
        const V onsager = hn::Set(d, carry);
        V sum = hn::Zero(d);
        for (std::size_t j = 0; j < a.stride; j += lanes) {
            V r = hn::Neg(hn::Load(d, a.y + at + j));
            if (a.p1) r = hn::MulAdd(grow, hn::Load(d, a.p1 + at + j), r);
            if (a.p2) r = hn::MulAdd(back, hn::Load(d, a.p2 + at + j), r);
            if (a.previous) r = hn::MulAdd(onsager, hn::Load(d, a.previous + at + j), r);
            hn::Store(r, d, a.r + at + j);
            sum = hn::Add(sum, hn::Abs(r));
        }
        a.mean_abs[i] = hn::GetLane(hn::SumOfLanes(d, sum)) / static_cast<float>(a.m);
    }
}

// The signs of a vector are two masks, of the entries that are not zero and of the negative ones.
HWY_INLINE std::uint8_t* StoreSigns(hn::Mask<D> alive, V x, std::uint8_t* to) {
    const D d;
    to += hn::StoreMaskBits(d, alive, to);
    return to + hn::StoreMaskBits(d, hn::Lt(x, hn::Zero(d)), to);
}

template <Activation kActivation>
void ThresholdRowsOf(const ThresholdArgs& a) {
    const D d;
    const hn::RebindToUnsigned<D> du;
    const std::size_t lanes = hn::Lanes(d);
    const V from1 = hn::Set(d, a.delta * (1.0F + a.beta));
    const V from2 = hn::Set(d, -a.delta * a.beta);
    const V softening = hn::Set(d, a.softening);
    const V minus_step = hn::Set(d, -a.step);
    const auto zero = hn::Zero(d);
    V thresholds[kMostPieces], gains[kMostPieces];
    for (std::size_t p = 0; p < a.pieces.count; ++p) gains[p] = hn::Set(d, a.pieces.gains[p]);
    const auto step = hn::Set(du, static_cast<std::uint32_t>(lanes));
    std::uint8_t* signs = a.signs;
    std::size_t count = 0;
    a.starts[0] = 0;
    for (std::size_t i = 0; i < a.rows; ++i) {
        const std::size_t at = i * a.stride;
        for (std::size_t p = 0; p < a.pieces.count; ++p)
            thresholds[p] = hn::Set(d, a.pieces.thresholds[p] * a.tau[i]);
        const ActivationNumbers<V> numbers{hn::Set(d, a.tau[i]), softening, a.pieces.count,
                                           thresholds, gains};
        V slope = zero;
        V least = zero;
        if (kActivation == Activation::piecewise) {
            least = hn::Set(d, a.pieces.thresholds[0] * a.tau[i]);
            for (std::size_t p = 1; p < a.pieces.count; ++p) least = hn::Min(least, thresholds[p]);
        }
        // Counted up: an Iota in the loop is built number by number in memory, and measured as more
        // than half of this function.
        auto which = hn::Iota(du, 0);
        for (std::size_t j = 0; j < a.stride; j += lanes) {
            V z = hn::Mul(minus_step, hn::Load(d, a.q + at + j));
            if (a.x1) z = hn::MulAdd(from1, hn::Load(d, a.x1 + at + j), z);
            if (a.x2) z = hn::MulAdd(from2, hn::Load(d, a.x2 + at + j), z);
            if (a.z) hn::Store(z, d, a.z + at + j);
            V x = activation::HWY_NAMESPACE::Apply(ActivationTag<kActivation>(), z, numbers);
            // Gains of 0 and gains that cancel leave zeros through which a gradient passes.
            const auto alive =
                kActivation == Activation::piecewise ? hn::Gt(hn::Abs(z), least) : hn::Ne(x, zero);
            x = hn::IfThenElseZero(alive, x);  // no negative zeros
            hn::Store(x, d, a.x + at + j);
            if constexpr (kActivation == Activation::piecewise) {
                const V size = hn::Abs(z);
                for (std::size_t p = 0; p < a.pieces.count; ++p)
                    slope =
                        hn::Add(slope, hn::IfThenElseZero(hn::Gt(size, thresholds[p]), gains[p]));
            }
            signs = StoreSigns(alive, x, signs);
            // Compress and a whole store into the slack: CompressStore to memory measured 3x
            // slower.
            const auto mask = hn::RebindMask(du, alive);
            hn::StoreU(hn::Compress(which, mask), du, a.indices + count);
            which = hn::Add(which, step);
            count += hn::CountTrue(du, mask);
        }
        a.slopes[i] = kActivation == Activation::piecewise
                          ? hn::GetLane(hn::SumOfLanes(d, slope))
                          : static_cast<float>(count - a.starts[i]);
        a.starts[i + 1] = static_cast<std::uint32_t>(count);
    }
}

void ThresholdRows(const ThresholdArgs& a) {
    with_activation(a.activation, [&](auto activation) { ThresholdRowsOf<activation()>(a); });
}

void ResidualGradientRows(const ResidualGradientArgs& a) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const V zero = hn::Zero(d);
    const V step = hn::Set(d, a.step);
    for (std::size_t i = 0; i < a.rows; ++i) {
        const std::size_t at = i * a.stride;
        const V mean = hn::Set(d, a.from_mean ? a.from_mean[i] : 0.0F);
        const float share = a.next ? a.slopes[i] / static_cast<float>(a.m) : 0.0F;
        const V carry = hn::Set(d, a.omega_next * share);
        V beta = zero;
        V omega = zero;
        V by_step = zero;
        for (std::size_t j = 0; j < a.stride; j += lanes) {
            V g = hn::Load(d, a.g + at + j);
            if (a.step_sum) by_step = hn::MulAdd(g, hn::Load(d, a.r + at + j), by_step);
            g = hn::Mul(step, g);
            if (a.next) g = hn::MulAdd(carry, hn::Load(d, a.next + at + j), g);
            if (a.from_mean) {
                const V r = hn::Load(d, a.r + at + j);
                const V sign = hn::IfThenElse(hn::Gt(r, zero), mean, hn::Neg(mean));
                g = hn::Add(g, hn::IfThenElseZero(hn::Ne(r, zero), sign));
            }
            hn::Store(g, d, a.g + at + j);
            if (a.p1) {
                V p = hn::Load(d, a.p1 + at + j);
                if (a.p2) p = hn::Sub(p, hn::Load(d, a.p2 + at + j));
                beta = hn::MulAdd(g, p, beta);
            }
            if (a.r_before) omega = hn::MulAdd(g, hn::Load(d, a.r_before + at + j), omega);
        }
        if (a.step_sum) a.step_sum[i] = hn::GetLane(hn::SumOfLanes(d, by_step));
        if (a.p1) a.beta[i] = hn::GetLane(hn::SumOfLanes(d, beta));
        if (a.r_before) a.omega[i] = hn::GetLane(hn::SumOfLanes(d, omega));
    }
}

void CombineRows(std::size_t count, float c1, const float* v1, float c2, const float* v2,
                 float* out) {
    const D d;
    const V f1 = hn::Set(d, c1);
    const V f2 = hn::Set(d, c2);
    for (std::size_t e = 0; e < count; e += hn::Lanes(d)) {
        V sum = hn::Mul(f1, hn::Load(d, v1 + e));
        if (v2) sum = hn::MulAdd(f2, hn::Load(d, v2 + e), sum);
        hn::Store(sum, d, out + e);
    }
}

void SupportGradientRows(const SupportGradientArgs& a) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const V zero = hn::Zero(d);
    const V f1 = hn::Set(d, a.c1);
    const V f2 = hn::Set(d, a.c2);
    const std::uint8_t* signs = a.signs;
    const std::size_t bytes = (lanes + 7) / 8;  // of a mask
    for (std::size_t i = 0; i < a.rows; ++i) {
        V tau = zero;
        for (std::size_t j = i * a.stride; j < (i + 1) * a.stride; j += lanes) {
            const auto alive = hn::LoadMaskBits(d, signs);
            const auto negative = hn::LoadMaskBits(d, signs + bytes);
            signs += 2 * bytes;
            V h = hn::Neg(hn::Load(d, a.q + j));
            if (a.hz1) h = hn::MulAdd(f1, hn::Load(d, a.hz1 + j), h);
            if (a.hz2) h = hn::MulAdd(f2, hn::Load(d, a.hz2 + j), h);
            h = hn::IfThenElseZero(alive, h);
            hn::Store(h, d, a.hz + j);
            tau = hn::Add(tau, hn::IfThenElse(negative, hn::Neg(h), h));
        }
        a.tau[i] = hn::GetLane(hn::SumOfLanes(d, tau));
    }
}

// The vector of one row stays in up to kBlock registers while the columns stream by; longer
// vectors are done in slabs.
constexpr std::size_t kBlock = 8;

template <std::size_t kVectors>
void GatherSlab(const ColumnArgs& a, const float* HWY_RESTRICT c, const float* HWY_RESTRICT columns,
                const float* HWY_RESTRICT minus, float* HWY_RESTRICT v, std::size_t at) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t mv = a.mv;
    for (std::size_t i = 0; i < a.rows; ++i) {
        // Two sums that do not wait for each other.
        V even[kVectors];
        V odd[kVectors];
        for (std::size_t b = 0; b < kVectors; ++b) even[b] = odd[b] = hn::Zero(d);
        const std::uint32_t* indices = a.supports.indices + a.supports.starts[i];
        const float* row = c + i * a.nc;
        const std::size_t count = a.supports.count(i);
        for (std::size_t e = 0; e < count; e += 2) {
            // The last entry of an odd number goes with itself times zero: a branch on that is
            // taken every other time, and guessed wrong as often.
            const bool two = e + 1 < count;
            const std::size_t second = indices[e + (two ? 1 : 0)];
            const V factor0 = hn::Set(d, row[indices[e]]);
            const V factor1 = hn::Set(d, two ? row[second] : 0.0F);
            const float* column0 = columns + indices[e] * mv + at;
            const float* column1 = columns + second * mv + at;
            for (std::size_t b = 0; b < kVectors; ++b) {
                even[b] = hn::MulAdd(factor0, hn::Load(d, column0 + b * lanes), even[b]);
                odd[b] = hn::MulAdd(factor1, hn::Load(d, column1 + b * lanes), odd[b]);
            }
        }
        for (std::size_t b = 0; b < kVectors; ++b) {
            const std::size_t to = i * mv + at + b * lanes;
            V sum = hn::Add(even[b], odd[b]);
            if (minus) sum = hn::Sub(sum, hn::Load(d, minus + to));
            hn::Store(sum, d, v + to);
        }
    }
}

// <column, r> before its lanes are added up.
template <std::size_t kVectors>
HWY_INLINE V DotLanes(const V* r, const float* column) {
    const D d;
    V sum = hn::Mul(r[0], hn::Load(d, column));
    for (std::size_t b = 1; b < kVectors; ++b)
        sum = hn::MulAdd(r[b], hn::Load(d, column + b * hn::Lanes(d)), sum);
    return sum;
}

#if HWY_TARGET != HWY_SCALAR
// The lanes of four vectors added up: four sums. Together they take half the shuffles of four
// SumOfLanes.
HWY_INLINE void SumsOfLanes(V v0, V v1, V v2, V v3, float* HWY_RESTRICT sums) {
    const D d;
    const hn::Repartition<std::uint64_t, D> pairs;
    const V v01 = hn::Add(hn::InterleaveLower(d, v0, v1), hn::InterleaveUpper(d, v0, v1));
    const V v23 = hn::Add(hn::InterleaveLower(d, v2, v3), hn::InterleaveUpper(d, v2, v3));
    const auto p01 = hn::BitCast(pairs, v01);
    const auto p23 = hn::BitCast(pairs, v23);
    const V low = hn::BitCast(d, hn::InterleaveLower(pairs, p01, p23));
    const V high = hn::BitCast(d, hn::InterleaveUpper(pairs, p01, p23));
    HWY_ALIGN float blocks[kPad];
    hn::Store(hn::Add(low, high), d, blocks);
    const hn::FixedTag<float, 4> four;
    auto sum = hn::Load(four, blocks);
    for (std::size_t b = 4; b < hn::Lanes(d); b += 4)
        sum = hn::Add(sum, hn::Load(four, blocks + b));
    hn::Store(sum, four, sums);
}
#endif

template <std::size_t kVectors>
void DotSlab(const ColumnArgs& a, const float* HWY_RESTRICT v, const float* HWY_RESTRICT columns,
             float* HWY_RESTRICT c, std::size_t at) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t mv = a.mv;
    for (std::size_t i = 0; i < a.rows; ++i) {
        V r[kVectors];
        for (std::size_t b = 0; b < kVectors; ++b) r[b] = hn::Load(d, v + i * mv + at + b * lanes);
        const std::uint32_t* indices = a.supports.indices + a.supports.starts[i];
        const std::size_t count = a.supports.count(i);
        float* row = c + i * a.nc;
        const auto column = [&](std::size_t e) { return columns + indices[e] * mv + at; };
        const auto put = [&](std::size_t e, float part) {
            row[indices[e]] = at == 0 ? part : row[indices[e]] + part;
        };
        std::size_t e = 0;
#if HWY_TARGET != HWY_SCALAR
        for (; e + 4 <= count; e += 4) {
            HWY_ALIGN float sums[4];
            SumsOfLanes(DotLanes<kVectors>(r, column(e)), DotLanes<kVectors>(r, column(e + 1)),
                        DotLanes<kVectors>(r, column(e + 2)), DotLanes<kVectors>(r, column(e + 3)),
                        sums);
            for (std::size_t l = 0; l < 4; ++l) put(e + l, sums[l]);
        }
#endif
        for (; e < count; ++e)
            put(e, hn::GetLane(hn::SumOfLanes(d, DotLanes<kVectors>(r, column(e)))));
    }
}

// Calls slab(number of vectors, first float) for the slabs of a vector of `length` floats.
template <class Slab>
void BySlabs(std::size_t length, const Slab& slab) {
    const std::size_t lanes = hn::Lanes(D());
    for (std::size_t at = 0; at < length; at += kBlock * lanes)
        WithStaticCount<kBlock>((length - at) / lanes, [&](auto vectors) { slab(vectors, at); });
}

void GatherColumns(const ColumnArgs& a, const float* c, const float* columns, const float* minus,
                   float* v) {
    BySlabs(a.mv, [&](auto vectors, std::size_t at) {
        GatherSlab<vectors()>(a, c, columns, minus, v, at);
    });
}

void DotColumns(const ColumnArgs& a, const float* v, const float* columns, float* c) {
    BySlabs(a.mv, [&](auto vectors, std::size_t at) { DotSlab<vectors()>(a, v, columns, c, at); });
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(ResidualRows);
HWY_EXPORT(ThresholdRows);
HWY_EXPORT(ResidualGradientRows);
HWY_EXPORT(CombineRows);
HWY_EXPORT(SupportGradientRows);
HWY_EXPORT(GatherColumns);
HWY_EXPORT(DotColumns);

void residual_rows(const ResidualArgs& args) { HWY_DYNAMIC_DISPATCH(ResidualRows)(args); }
void threshold_rows(const ThresholdArgs& args) { HWY_DYNAMIC_DISPATCH(ThresholdRows)(args); }

void residual_gradient_rows(const ResidualGradientArgs& args) {
    HWY_DYNAMIC_DISPATCH(ResidualGradientRows)(args);
}

void combine_rows(std::size_t count, float c1, const float* v1, float c2, const float* v2,
                  float* out) {
    HWY_DYNAMIC_DISPATCH(CombineRows)(count, c1, v1, c2, v2, out);
}

void support_gradient_rows(const SupportGradientArgs& args) {
    HWY_DYNAMIC_DISPATCH(SupportGradientRows)(args);
}

void gather_columns(const ColumnArgs& args, const float* c, const float* columns,
                    const float* minus, float* v) {
    HWY_DYNAMIC_DISPATCH(GatherColumns)(args, c, columns, minus, v);
}

void dot_columns(const ColumnArgs& args, const float* v, const float* columns, float* c) {
    HWY_DYNAMIC_DISPATCH(DotColumns)(args, v, columns, c);
}

}  // namespace pibinn::cpu
#endif
