// The sum of |r| and the thresholds that follow from it. Included once for every target.

#if defined(PIBINN_INFER_SIZES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SIZES_INL
#undef PIBINN_INFER_SIZES_INL
#else
#define PIBINN_INFER_SIZES_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

/// p[l] += p[l + half], halving down to one: the order in which a tile adds its partial sums.
HWY_INLINE float SumLanes(V v) {
    const hn::CappedTag<float, 4> four;
    const hn::CappedTag<float, 8> eight;
#if HWY_TARGET <= HWY_AVX3
    const auto half = hn::Add(hn::LowerHalf(eight, v), hn::UpperHalf(eight, v));
#else
    const auto half = v;
#endif
    auto sum = hn::Add(hn::LowerHalf(four, half), hn::UpperHalf(four, half));
    sum = hn::Add(sum, hn::Shuffle1032(sum));
    return hn::GetLane(hn::Add(sum, hn::Shuffle2301(sum)));
}

/// Partial sums of |r|, vector by vector: those with rows that are held by twos apart from the
/// rest, so that no chain of additions is long. Of two such rows the larger is |r0| + |r1|, which
/// the first adds and the second does not.
struct SizeSum {
    V first, rest;

    HWY_INLINE SizeSum() : first(hn::Zero(D())), rest(hn::Zero(D())) {}

    HWY_INLINE V Lanes() const { return hn::Add(first, rest); }

    /// The rows from i on.
    HWY_INLINE void Add(const PairedRows& paired, std::size_t i, V r) {
        if (paired.Whole(i))
            AddPairs<false>(r);
        else if (i < paired.first_sizes)
            AddMixed<false>(paired.From(i), r);
        else
            rest = hn::Add(rest, hn::Abs(r));
    }
    /// Vector kAt, which is added after those before it. `Bounds` knows which vectors are held by
    /// twos as far as it can be known beforehand.
    template <std::size_t kAt, class Bounds>
    HWY_INLINE void Add(const PairedRows& paired, V r) {
        if constexpr (kAt < Bounds::kWhole)
            AddPairs<kAt == 0>(r);
        else if constexpr (kAt < Bounds::kSome)
            AddMixed<kAt == 0>(paired.From(kAt * kLanes), r);
        else
            rest = kAt == Bounds::kSome ? hn::Abs(r) : hn::Add(rest, hn::Abs(r));
    }

private:
#if HWY_TARGET <= HWY_AVX3
    static constexpr __mmask16 kFirstOfTwo = 0x5555;

    template <bool kFirst>
    HWY_INLINE void AddPairs(V r) {
        const V size = hn::Abs(r);
        AddLarger<kFirst>(kFirstOfTwo, size, hn::Shuffle2301(size));
    }
    template <bool kFirst>
    HWY_INLINE void AddMixed(hn::Mask<D> by_twos, V r) {
        const V size = hn::Abs(r);
        // Alone, a row is compared with zero.
        const V other{_mm512_maskz_permute_ps(by_twos.raw, size.raw, 0xB1)};
        AddLarger<kFirst>(static_cast<__mmask16>(kFirstOfTwo | ~by_twos.raw), size, other);
    }
    template <bool kFirst>
    HWY_INLINE void AddLarger(__mmask16 adds, V a, V b) {
        const V larger = LargerSize(a, b);
        if constexpr (kFirst)
            first = V{_mm512_maskz_mov_ps(adds, larger.raw)};
        else
            first = V{_mm512_mask_add_ps(first.raw, adds, first.raw, larger.raw)};
    }
#else
    template <bool>
    HWY_INLINE void AddPairs(V r) {
        first = hn::Add(first, hn::OddEven(hn::Zero(D()), Larger(hn::Abs(r))));
    }
    template <bool>
    HWY_INLINE void AddMixed(hn::Mask<D> by_twos, V r) {
        const V size = hn::Abs(r);
        const V pairs = hn::OddEven(hn::Zero(D()), Larger(size));
        first = hn::Add(first, hn::IfThenElse(by_twos, pairs, size));
    }
    static HWY_INLINE V Larger(V size) { return LargerSize(size, hn::Shuffle2301(size)); }
#endif
};

/// Thresholds that follow the residuals of signals which take turns.
struct ResidualThresholds {
    alignas(64) float sizes[kTurns][kLanes] = {};
    alignas(64) float taus[16] = {};  ///< of signal t at 4 t

    void Share(std::size_t turn, Signal& signal) {
        signal.sizes = sizes[turn];
        signal.tau = taus + 4 * turn;
    }

    /// Takes the sizes of one signal. Alone, it has its threshold at once: what would go through
    /// memory to Find comes too late for the first entries.
    static HWY_INLINE void Take(const SizeSum& sum, const PackedPart& part, float theta, bool alone,
                                const Signal& signal) {
        if (!alone) [[likely]] {
            hn::Store(sum.Lanes(), D(), signal.sizes);
            return;
        }
        *signal.tau = part.activation == Activation::soft
                          ? Threshold<Activation::soft>(theta, sum.Lanes())
                          : Threshold<Activation::hard>(theta, sum.Lanes());
    }

    /// The thresholds of several signals.
    template <Activation kActivation>
    HWY_INLINE void Find(float theta, std::size_t count) {
#if HWY_TARGET <= HWY_AVX3
        // All three together, in blocks of four lanes: half the work of one after the other.
        static_assert(kTurns == 3);
        (void)count;
        const V c = hn::Load(D(), sizes[2]);
        const V ab = AddHalves(hn::Load(D(), sizes[0]), hn::Load(D(), sizes[1]));
        V sum = AddQuarters(ab, AddHalves(c, c));
        sum = hn::Add(sum, hn::Shuffle1032(sum));
        sum = hn::Add(sum, hn::Shuffle2301(sum));
        hn::Store(ResidualThreshold<kActivation>(hn::Mul(hn::Set(D(), theta), sum)), D(), taus);
#else
        for (std::size_t turn = 0; turn < count; ++turn)
            taus[4 * turn] = Threshold<kActivation>(theta, hn::Load(D(), sizes[turn]));
#endif
    }

private:
    template <Activation kActivation>
    static HWY_INLINE float Threshold(float theta, V lanes) {
        const auto tau = hn::Set(hn::CappedTag<float, 4>(), theta * SumLanes(lanes));
        return hn::GetLane(ResidualThreshold<kActivation>(tau));
    }
#if HWY_TARGET <= HWY_AVX3
    /// Two blocks of a, then two of b.
    static HWY_INLINE V AddHalves(V a, V b) {
        return hn::Add(V{_mm512_shuffle_f32x4(a.raw, b.raw, 0x44)},
                       V{_mm512_shuffle_f32x4(a.raw, b.raw, 0xEE)});
    }
    /// From two halves of each to one block of each.
    static HWY_INLINE V AddQuarters(V ab, V cd) {
        return hn::Add(V{_mm512_shuffle_f32x4(ab.raw, cd.raw, 0x88)},
                       V{_mm512_shuffle_f32x4(ab.raw, cd.raw, 0xDD)});
    }
#endif
};

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
