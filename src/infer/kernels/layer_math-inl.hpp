// What a layer does beside its products, for vectors of any length. Both kernels use it, so that
// both round alike. Included once for every target.

#if defined(PIBINN_INFER_LAYER_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_LAYER_MATH_INL
#undef PIBINN_INFER_LAYER_MATH_INL
#else
#define PIBINN_INFER_LAYER_MATH_INL
#endif

#include <algorithm>
#include <cstddef>

#include <hwy/highway.h>

#include <generated/all_activations-inl.hpp>

#include "algebra/activate.hpp"
#include "infer/kernels/primitives-inl.hpp"
#include "infer/packed_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// The rows whose |r| is summed apart from that of the rows behind them: all butterfly rows and
/// some more, as the number of cache lines and the length of the tail allow.
constexpr std::size_t FirstAbsRows(std::size_t main_rows, std::size_t tail_stride) {
    constexpr std::size_t sums = kLayout.partial_sums;
    return (2 * kLayout.groups(main_rows + tail_stride) + sums - 1) / sums * sums;
}

/// The residual from the last two misfits and the residual before. In a plain network it is the
/// last misfit.
template <class V>
HWY_INLINE V Residual(V e1, V e2, V prev, V prev_residual_factor, V omega) {
    return hn::MulAdd(omega, prev, hn::NegMulAdd(prev_residual_factor, e2, e1));
}

/// z = delta (x1 + beta (x1 - x2)) + scale q in the unit of the new x: x1 - prev_x_factor x2 +
/// scale q, in a plain network without x2. q, which comes last, is added last.
template <bool kPlain, class V>
HWY_INLINE V LayerInput(V x1, V x2, V q, V prev_x_factor, V scale) {
    return hn::MulAdd(scale, q, kPlain ? x1 : hn::NegMulAdd(prev_x_factor, x2, x1));
}

/// x2 of layers in which x1 has a factor.
template <class D>
HWY_INLINE void MixEntries(D d, const PackedLayer& layer, std::size_t count,
                           const float* HWY_RESTRICT x1, float* HWY_RESTRICT x2) {
    const auto mix_prev = hn::Set(d, layer.mix_prev);
    const auto mix_x = hn::Set(d, layer.mix_x);
    for (std::size_t j = 0; j < count; j += hn::MaxLanes(d))
        hn::Store(hn::MulAdd(mix_x, hn::Load(d, x1 + j), hn::Mul(mix_prev, hn::Load(d, x2 + j))), d,
                  x2 + j);
}

/// x in the caller's unit.
template <bool kPlain>
HWY_INLINE void WriteEntries(const float* HWY_RESTRICT x, float x_unit, std::size_t count,
                             float* HWY_RESTRICT to) {
    // Not std::copy_n: it would not be compiled for this target.
    for (std::size_t j = 0; j < count; ++j) to[j] = kPlain ? x[j] : x_unit * x[j];
}

/// A threshold that follows the residual.
template <class V>
HWY_INLINE V ResidualThreshold(Activation activation, V tau) {
    if (!rules_of(activation).hides_bad_threshold) return tau;
    // One that is not finite gets a minus, so that everything is above it. Adding one to its
    // exponent tells: only such a threshold overflows into the sign.
    const hn::DFromV<V> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto next = hn::Add(hn::BitCast(du, tau), hn::Set(du, 1U << 23U));
    return hn::Or(tau, hn::And(hn::BitCast(d, next), hn::SignBit(d)));
}

/// The activation: the one place where the kernels apply it. By its own formula for vectors, except
/// where a shorter one gives the same bits.
template <Activation kActivation>
struct KernelActivation {
    template <class V>
    static HWY_INLINE Activated<V> Apply(V z, V tau) {
        const V zero = hn::Zero(hn::DFromV<V>());
        return Activated<V>(activation::HWY_NAMESPACE::Apply(ActivationTag<kActivation>(), z,
                                                             ActivationNumbers<V>{tau, zero}));
    }
};

template <>
struct KernelActivation<Activation::soft> {
    template <class V>
    static HWY_INLINE Activated<V> Apply(V z, V tau) {
        return SoftThreshold(z, tau);
    }
};

/// Without the softening of training.
template <>
struct KernelActivation<Activation::hard> {
    template <class V>
    static HWY_INLINE Activated<V> Apply(V z, V tau) {
        return Activated<V>(hn::IfThenElseZero(hn::Ge(hn::Abs(z), tau), z));
    }
};

template <Activation kActivation, class V>
HWY_INLINE Activated<V> Activate(V z, V tau) {
    return KernelActivation<kActivation>::Apply(z, tau);
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
