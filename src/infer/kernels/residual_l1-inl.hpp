// The sum of |r| and the thresholds that follow from it. Included once for every target.

#if defined(PIBINN_INFER_RESIDUAL_L1_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_RESIDUAL_L1_INL
#undef PIBINN_INFER_RESIDUAL_L1_INL
#else
#define PIBINN_INFER_RESIDUAL_L1_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// Partial sums of |r|, vector by vector. Vectors with butterfly rows are summed apart from the
/// rest, so that no chain of additions is long. Of the two rows of a butterfly the larger absolute
/// value is |r0| + |r1|, which the first row adds and the second does not.
struct AbsSum {
    V first, rest;

    HWY_INLINE AbsSum() : first(hn::Zero(D())), rest(hn::Zero(D())) {}

    HWY_INLINE V Lanes() const { return hn::Add(first, rest); }

    /// The rows from i on.
    HWY_INLINE void Add(const ButterflyRows& butterfly, std::size_t i, V r) {
        if (butterfly.Whole(i))
            first = AddLargerOfPairs<false>(first, hn::Abs(r));
        else if (i < butterfly.first_abs_rows)
            first = AddLargerOfPairs<false>(first, butterfly.From(i), hn::Abs(r));
        else
            rest = hn::Add(rest, hn::Abs(r));
    }
    /// Vector kAt, which is added after those before it. `Bounds` says which vectors hold butterfly
    /// rows, as far as that can be known when the kernel is compiled.
    template <std::size_t kAt, class Bounds>
    HWY_INLINE void Add(const ButterflyRows& butterfly, V r) {
        if constexpr (kAt < Bounds::kWhole)
            first = AddLargerOfPairs<kAt == 0>(first, hn::Abs(r));
        else if constexpr (kAt < Bounds::kSome)
            first = AddLargerOfPairs<kAt == 0>(first, butterfly.From(kAt * kLanes), hn::Abs(r));
        else
            rest = kAt == Bounds::kSome ? hn::Abs(r) : hn::Add(rest, hn::Abs(r));
    }
};

/// Thresholds that follow the residuals of interleaved signals, and what else an activation needs
/// or leaves behind.
struct ResidualThresholds {
    alignas(64) float abs_sums[kInterleave][kLanes] = {};
    alignas(64) float taus[16] = {};  ///< of signal i at 4 i
    alignas(64) float shrinks[kInterleave][3 * kMostPieces] = {};
    float slopes[kInterleave] = {};

    void Share(std::size_t i, Signal& signal) {
        signal.abs_sums = abs_sums[i];
        signal.tau = taus + 4 * i;
        signal.shrink = shrinks[i];
        signal.slopes = slopes + i;
    }

    /// Takes the sums of one signal. A signal alone has its threshold at once: by way of memory and
    /// Find it would come too late for the first entries.
    static HWY_INLINE void Take(const AbsSum& sum, const PackedBlock& block, float theta,
                                bool alone, const Signal& signal) {
        if (!alone) [[likely]] {
            hn::Store(sum.Lanes(), D(), signal.abs_sums);
            return;
        }
        const hn::CappedTag<float, 4> four;
        const auto tau = hn::Set(four, theta * SumLanes(sum.Lanes()));
        *signal.tau = hn::GetLane(ResidualThreshold(block.activation, tau));
    }

    /// The thresholds of several signals.
    template <Activation kActivation>
    HWY_INLINE void Find(float theta, std::size_t count) {
        SumEachRow(
            abs_sums, count,
            [&](auto d, auto sum) HWY_ATTR {
                return ResidualThreshold(kActivation, hn::Mul(hn::Set(d, theta), sum));
            },
            taus);
    }
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
