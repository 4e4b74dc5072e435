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
#include "infer/kernels/piece_primitives-inl.hpp"
#include "infer/kernels/primitives-inl.hpp"
#include "infer/kernels/shrink.hpp"
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

/// x of a layer, and of a learned shrink its slope; what that is where x is zero does not count.
template <class V>
struct Shrunk {
    Activated<V> next;
    V slope;
};

/// The activation: the one place where the kernels apply it. By its own formula for vectors, except
/// where a shorter one gives the same bits. `numbers` gives what it needs beside z, as vectors:
/// Tau(d), or of a learned shrink Threshold(d, j) and LineOf(size).
template <Shrink kShrink>
struct KernelActivation {
    template <class V, class Numbers>
    static HWY_INLINE Activated<V> Apply(V z, const Numbers& numbers) {
        const hn::DFromV<V> d;
        return Activated<V>(
            activation::HWY_NAMESPACE::Apply(ActivationTag<kShrink.activation>(), z,
                                             ActivationNumbers<V>{numbers.Tau(d), hn::Zero(d)}));
    }
};

template <>
struct KernelActivation<Shrink{Activation::soft}> {
    template <class V, class Numbers>
    static HWY_INLINE Activated<V> Apply(V z, const Numbers& numbers) {
        return SoftThreshold(z, numbers.Tau(hn::DFromV<V>()));
    }
};

/// Without the softening of training.
template <>
struct KernelActivation<Shrink{Activation::hard}> {
    template <class V, class Numbers>
    static HWY_INLINE Activated<V> Apply(V z, const Numbers& numbers) {
        return Activated<V>(
            hn::IfThenElseZero(hn::Ge(hn::Abs(z), numbers.Tau(hn::DFromV<V>())), z));
    }
};

/// How far apart thresholds, offsets and slopes stand.
constexpr std::size_t PieceStride(std::size_t pieces) { return (pieces + 3) / 4 * 4; }

/// slope |z| + offset: what a learned shrink is beyond a threshold and up to the next.
template <class V>
struct PieceLine {
    V slope, offset;
};

/// That of the last threshold that `size` is beyond, or the first. Sums of all pieces would take as
/// many comparisons for the slope, and a subtraction, a maximum and a product for each piece.
template <class V, class Numbers>
HWY_INLINE PieceLine<V> LastLine(V size, const Numbers& numbers) {
    const hn::DFromV<V> d;
    PieceLine<V> line{numbers.Slope(d, 0), numbers.Offset(d, 0)};
    for (std::size_t j = 1; j < numbers.pieces; ++j) {
        const auto beyond = Beyond(size, numbers.Threshold(d, j));
        line.slope = hn::IfThenElse(beyond, numbers.Slope(d, j), line.slope);
        line.offset = hn::IfThenElse(beyond, numbers.Offset(d, j), line.offset);
    }
    return line;
}

/// The same line of few pieces: numbered, and looked up in vectors of all slopes and all offsets.
template <class V, class Numbers>
HWY_INLINE PieceLine<V> FewLine(V size, const Numbers& numbers) {
    static_assert(Shrink::kFew == 4);
    const hn::DFromV<V> d;
    const auto number = NumberOfFour(size, numbers.Threshold(d, 1), numbers.Threshold(d, 2),
                                     numbers.Threshold(d, 3));
    return {LookUpFour(numbers.Slopes(d), number), LookUpFour(numbers.Offsets(d), number)};
}

/// The learned shrink.
template <class V, class Numbers>
HWY_INLINE Shrunk<V> ShrinkByPieces(V z, const Numbers& numbers) {
    const hn::DFromV<V> d;
    const V sign_bit = hn::SignBit(d);
    const V size = hn::AndNot(sign_bit, z);
    const auto alive = Beyond(size, numbers.Threshold(d, 0));
    const PieceLine<V> line = numbers.LineOf(size);
    const V signed_offset = hn::Xor(line.offset, hn::And(z, sign_bit));
    const V x = hn::IfThenElseZero(alive, hn::MulAdd(line.slope, z, signed_offset));
    return {Activated<V>(x, alive), line.slope};
}

template <Shrink kShrink, class V, class Numbers>
HWY_INLINE Shrunk<V> Activate(V z, const Numbers& numbers) {
    if constexpr (kShrink.learned())
        return ShrinkByPieces(z, numbers);
    else
        return {KernelActivation<kShrink>::Apply(z, numbers), z};
}

/// A threshold of a learned shrink in the unit of a signal. Where that is not finite all thresholds
/// are marked, so that everything is beyond them. One that overflows alone is beyond everything:
/// thresholds ascend in any case.
template <class V>
HWY_INLINE V ScaledThreshold(V threshold, V unit) {
    const V marked = ResidualThreshold(Activation::piecewise, unit);
    return hn::Or(hn::Mul(threshold, unit), hn::And(marked, hn::SignBit(hn::DFromV<V>())));
}

/// The pieces of a learned shrink in the unit of a signal: thresholds and offsets times tau, and
/// the slopes, each number kWidth times from number to number.
template <std::size_t kWidth>
HWY_INLINE void ScaleShrink(const PackedBlock& block, std::size_t k, const float* tau, float* to) {
    const hn::CappedTag<float, (kWidth < 4 ? 4 : kWidth)> d;
    const std::size_t stride = block.piece_stride();
    const float* from = block.layer_shrink(k);
    if constexpr (kWidth == 1) {
        const auto unit = hn::Set(d, *tau);
        for (std::size_t j = 0; j < stride; j += hn::MaxLanes(d)) {
            hn::Store(ScaledThreshold(hn::Load(d, from + j), unit), d, to + j);
            hn::Store(hn::Mul(hn::Load(d, from + stride + j), unit), d, to + stride + j);
            hn::Store(hn::Load(d, from + 2 * stride + j), d, to + 2 * stride + j);
        }
    } else {
        for (std::size_t v = 0; v < kWidth; v += hn::MaxLanes(d)) {
            const auto unit = hn::Load(d, tau + v);
            for (std::size_t j = 0; j < block.pieces; ++j) {
                hn::Store(ScaledThreshold(hn::Set(d, from[j]), unit), d, to + j * kWidth + v);
                hn::Store(hn::Mul(hn::Set(d, from[stride + j]), unit), d,
                          to + (stride + j) * kWidth + v);
                hn::Store(hn::Set(d, from[2 * stride + j]), d, to + (2 * stride + j) * kWidth + v);
            }
        }
    }
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
