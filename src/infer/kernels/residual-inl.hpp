// A x over the support and the residual that it leaves. Included once for every target.

#if defined(PIBINN_INFER_RESIDUAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_RESIDUAL_INL
#undef PIBINN_INFER_RESIDUAL_INL
#else
#define PIBINN_INFER_RESIDUAL_INL
#endif

#include <algorithm>
#include <bit>
#include <utility>

#include <hwy/highway.h>

#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

// Columns of fewer cache lines than this are summed in registers; longer ones are streamed.
constexpr std::size_t kRegisterLines = 5;

/// p[l] += p[l + half], halving down to one: the order in which a tile adds its partial sums.
HWY_INLINE float SumLanes(V v) {
    HWY_ALIGN float p[kLanes];
    hn::Store(v, D(), p);
    const hn::CappedTag<float, 4> four;
    const hn::CappedTag<float, 8> eight;
    auto half = hn::Load(eight, p);
#if HWY_TARGET <= HWY_AVX3
    half = hn::Add(half, hn::Load(eight, p + 8));
#endif
    const auto quarter = hn::Add(hn::LowerHalf(four, half), hn::UpperHalf(four, half));
    hn::Store(quarter, four, p);
    return (p[0] + p[2]) + (p[1] + p[3]);
}

/// What is added to A x on the way to r.
template <bool kPlain>
struct ResidualStep {
    V one_and_beta, beta, omega;

    ResidualStep(const PackedLayer& layer, const Signal& signal)
        : one_and_beta(hn::Set(D(), 1.0F + layer.beta)),
          beta(hn::Set(D(), layer.beta)),
          omega(hn::Set(D(), layer.omega * static_cast<float>(signal.count))) {}

    /// r of rows i .. i + kLanes - 1, given their A x; rows from m on become zero. Returns |r|.
    HWY_INLINE V Finish(const Signal& s, std::size_t m, std::size_t i, V p) const {
        const D d;
        V r;
        if constexpr (kPlain) {
            r = hn::Sub(p, hn::Load(d, s.y + i));
        } else {
            r = Residual<false>(p, hn::Load(d, s.p2 + i), hn::Load(d, s.y + i),
                                hn::Load(d, s.r + i), one_and_beta, beta, omega);
            hn::Store(p, d, s.p1 + i);
        }
        if (i + kLanes > m) r = hn::IfThenElseZero(hn::FirstN(d, m - i), r);
        hn::Store(r, d, s.r + i);
        return hn::Abs(r);
    }
};

/// A x over the supports, in registers, then r: columns of kLines cache lines and a tail of kTail
/// floats. Signals take turns, since the sums of one alone would wait for each other.
template <bool kPlain, std::size_t kSignals, std::size_t kLines, std::size_t kTail>
HWY_NOINLINE void NextResiduals(const PackedPart& part, const PackedLayer& layer, Signal* signals) {
    constexpr std::size_t kMain = kLines * 16 / kLanes;
    constexpr std::size_t kVectors =
        std::max<std::size_t>(1, kMain + (kTail + kLanes - 1) / kLanes);
    const D d;
    const float* HWY_RESTRICT a = part.a.data();
    const float* HWY_RESTRICT tail = part.tail.data();
    V sum[kSignals][kVectors];
    for (auto& row : sum)
        for (V& v : row) v = hn::Zero(d);
    const auto add = [&](std::size_t s, std::size_t c) HWY_ATTR {
        const std::size_t j = signals[s].support[c];
        const V factor = hn::Set(d, signals[s].x1[j]);
        for (std::size_t v = 0; v < kMain; ++v)
            sum[s][v] =
                hn::MulAdd(hn::Load(d, a + j * kLines * 16 + v * kLanes), factor, sum[s][v]);
        // Four floats are repeated over the vector, which no cache line's end can be in the way of.
        if constexpr (kTail == 4)
            sum[s][kMain] = hn::MulAdd(hn::LoadDup128(d, tail + j * kTail), factor, sum[s][kMain]);
        else
            for (std::size_t v = kMain; v < kVectors; ++v)
                sum[s][v] = hn::MulAdd(hn::LoadU(d, tail + j * kTail + (v - kMain) * kLanes),
                                       factor, sum[s][v]);
    };
    std::size_t common = 0;
    if constexpr (kSignals == 2) {
        common = std::min(signals[0].count, signals[1].count);
        for (std::size_t c = 0; c < common; ++c) {
            add(0, c);
            add(1, c);
        }
        for (std::size_t c = common; c < signals[1].count; ++c) add(1, c);
    }
    for (std::size_t c = common; c < signals[0].count; ++c) add(0, c);
    for (std::size_t s = 0; s < kSignals; ++s) {
        const ResidualStep<kPlain> step(layer, signals[s]);
        V total = hn::Zero(d);
        for (std::size_t v = 0; v < kVectors; ++v)
            total = hn::Add(total, step.Finish(signals[s], part.m, v * kLanes, sum[s][v]));
        if (part.residual_threshold) signals[s].total = SumLanes(total);
    }
}

/// p += factor column, for four columns or one.
template <std::size_t kColumns>
HWY_INLINE void AddColumns(const float* const* columns, const V* factors, std::size_t length,
                           float* HWY_RESTRICT p) {
    const D d;
    for (std::size_t i = 0; i < length; i += kLanes) {
        V sum = hn::Load(d, p + i);
        for (std::size_t c = 0; c < kColumns; ++c)
            sum = hn::MulAdd(hn::LoadU(d, columns[c] + i), factors[c], sum);
        hn::Store(sum, d, p + i);
    }
}

/// p = A x for long columns: four at a time, so that p is read and written once for four.
HWY_INLINE void StreamColumns(const PackedPart& part, const Signal& signal) {
    const D d;
    for (std::size_t i = 0; i < part.m; i += kLanes) hn::Store(hn::Zero(d), d, signal.p1 + i);
    for (std::size_t c = 0; c < signal.count;) {
        const std::size_t some = c + 4 <= signal.count ? 4 : 1;
        const float* columns[4];
        const float* tails[4];
        V factors[4];
        for (std::size_t l = 0; l < some; ++l) {
            const std::size_t j = signal.support[c + l];
            columns[l] = part.a.data() + j * part.main_rows;
            tails[l] = part.tail.data() + j * part.tail_stride;
            factors[l] = hn::Set(d, signal.x1[j]);
        }
        float* p = signal.p1 + part.main_rows;
        if (some == 4) {
            AddColumns<4>(columns, factors, part.main_rows, signal.p1);
            AddColumns<4>(tails, factors, part.tail_stride, p);
        } else {
            AddColumns<1>(columns, factors, part.main_rows, signal.p1);
            AddColumns<1>(tails, factors, part.tail_stride, p);
        }
        c += some;
    }
}

template <bool kPlain, std::size_t kSignals>
HWY_NOINLINE void StreamResiduals(const PackedPart& part, const PackedLayer& layer,
                                  Signal* signals) {
    const D d;
    for (std::size_t s = 0; s < kSignals; ++s) {
        StreamColumns(part, signals[s]);
        const ResidualStep<kPlain> step(layer, signals[s]);
        V total = hn::Zero(d);
        for (std::size_t i = 0; i < part.m; i += kLanes)
            total =
                hn::Add(total, step.Finish(signals[s], part.m, i, hn::Load(d, signals[s].p1 + i)));
        signals[s].total = SumLanes(total);
    }
}

using ResidualsFunction = void (*)(const PackedPart&, const PackedLayer&, Signal*);

template <bool kPlain, std::size_t kSignals, std::size_t... kLines>
ResidualsFunction ResidualsOf(const PackedPart& part, std::index_sequence<kLines...>) {
    static constexpr ResidualsFunction functions[][4] = {
        {&NextResiduals<kPlain, kSignals, kLines, 0>, &NextResiduals<kPlain, kSignals, kLines, 4>,
         &NextResiduals<kPlain, kSignals, kLines, 8>,
         &NextResiduals<kPlain, kSignals, kLines, 16>}...};
    const std::size_t lines = part.main_rows / 16;
    if (lines >= sizeof...(kLines)) return &StreamResiduals<kPlain, kSignals>;
    return functions[lines][static_cast<std::size_t>(std::bit_width(part.tail_stride / 4))];
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
