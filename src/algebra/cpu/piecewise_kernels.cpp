#include "algebra/cpu/piecewise_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/piecewise_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

void PiecewiseGradientRows(const PiecewiseGradientArgs& a) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    const SupportGradientArgs& t = a.through;
    const std::size_t count = a.pieces.count;
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0F);
    const V f1 = hn::Set(d, t.c1);
    const V f2 = hn::Set(d, t.c2);
    for (std::size_t i = 0; i < t.rows; ++i) {
        V thresholds[kMostPieces], by_threshold[kMostPieces], by_gain[kMostPieces],
            beyond[kMostPieces];
        for (std::size_t p = 0; p < count; ++p) {
            thresholds[p] = hn::Set(d, a.pieces.thresholds[p] * a.tau[i]);
            by_threshold[p] = by_gain[p] = beyond[p] = zero;
        }
        V least = hn::Set(d, a.pieces.thresholds[0] * a.tau[i]);
        for (std::size_t p = 1; p < count; ++p) least = hn::Min(least, thresholds[p]);
        for (std::size_t j = i * t.stride; j < (i + 1) * t.stride; j += lanes) {
            const V z = hn::Load(d, a.z + j);
            const V size = hn::Abs(z);
            V h = hn::Neg(hn::Load(d, t.q + j));
            if (t.hz1) h = hn::MulAdd(f1, hn::Load(d, t.hz1 + j), h);
            if (t.hz2) h = hn::MulAdd(f2, hn::Load(d, t.hz2 + j), h);
            // -dL/d|x|, and nothing of what lies within all thresholds, where q is not defined.
            const V towards = hn::Xor(h, hn::And(z, hn::SignBit(d)));
            V slope = zero;
            for (std::size_t p = 0; p < count; ++p) {
                const auto passes = hn::Gt(size, thresholds[p]);
                const V gained = hn::IfThenElseZero(passes, towards);
                slope = hn::Add(slope, hn::IfThenElseZero(passes, hn::Set(d, a.pieces.gains[p])));
                by_threshold[p] = hn::Add(by_threshold[p], gained);
                by_gain[p] = hn::NegMulAdd(gained, hn::Sub(size, thresholds[p]), by_gain[p]);
                beyond[p] = hn::Add(beyond[p], hn::IfThenElseZero(passes, one));
            }
            hn::Store(hn::IfThenElseZero(hn::Gt(size, least), hn::Mul(h, slope)), d, t.hz + j);
        }
        for (std::size_t p = 0; p < count; ++p) {
            const auto sum = [&](V v) { return hn::GetLane(hn::SumOfLanes(d, v)); };
            a.thresholds[i * count + p] = a.pieces.gains[p] * sum(by_threshold[p]);
            a.gains[i * count + p] = sum(by_gain[p]);
            a.counts[i * count + p] = sum(beyond[p]);
        }
    }
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(PiecewiseGradientRows);

void piecewise_gradient_rows(const PiecewiseGradientArgs& args) {
    HWY_DYNAMIC_DISPATCH(PiecewiseGradientRows)(args);
}

}  // namespace pibinn::cpu
#endif
