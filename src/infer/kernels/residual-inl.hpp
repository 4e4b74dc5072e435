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

#include "infer/kernels/places-inl.hpp"
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

/// The sum of |r|, vector by vector. Of rows that are held by twos the larger is |r0| + |r1|, and
/// both add half of it.
struct SizeSum {
    V pairs, singles;

    SizeSum() : pairs(hn::Zero(D())), singles(hn::Zero(D())) {}

    HWY_INLINE void Add(const PackedPart& part, std::size_t i, V r) {
        const V size = hn::Abs(r);
        if (i >= part.paired()) {
            singles = hn::Add(singles, size);
            return;
        }
        const V larger = hn::Max(size, hn::Shuffle2301(size));
        if (i + kLanes <= part.paired()) {
            pairs = hn::Add(pairs, larger);
            return;
        }
        const auto paired = PairedLanes(part, i);
        pairs = hn::Add(pairs, hn::IfThenElseZero(paired, larger));
        singles = hn::Add(singles, hn::IfThenZeroElse(paired, size));
    }
    HWY_INLINE float Total() const {
        return SumLanes(hn::MulAdd(pairs, hn::Set(D(), 0.5F), singles));
    }
};

/// From A x, rows i .. i + kLanes - 1 of it, to r.
template <bool kPlain>
struct ResidualStep {
    V one_and_beta, beta, omega;
    const float *y, *p2;
    float *p1, *r;

    ResidualStep(const PackedLayer& layer, std::size_t alive, const Signal& signal)
        : one_and_beta(hn::Set(D(), layer.one_and_beta)),
          beta(hn::Set(D(), layer.beta)),
          omega(hn::Set(D(), layer.omega * static_cast<float>(alive))),
          y(signal.y),
          p2(signal.p2),
          p1(signal.p1),
          r(signal.r) {}

    HWY_INLINE V Finish(std::size_t i, V p) const {
        const D d;
        V now;
        if constexpr (kPlain) {
            now = hn::Sub(p, hn::Load(d, y + i));
        } else {
            now = Residual<false>(p, hn::Load(d, p2 + i), hn::Load(d, y + i), hn::Load(d, r + i),
                                  one_and_beta, beta, omega);
            hn::Store(p, d, p1 + i);
        }
        hn::Store(now, d, r + i);
        return now;
    }
};

/// The rows that are left over behind whole cache lines, in a vector that is just long enough: no
/// cache line's end can be in the way of its loads.
template <std::size_t kTail>
struct TailSum {
    using DT = hn::CappedTag<float, std::min(kTail, kLanes)>;
    static constexpr std::size_t kVectors = kTail / hn::MaxLanes(DT());
    hn::Vec<DT> sums[kVectors];

    TailSum() {
        ForEach<kVectors>([&](auto v) HWY_ATTR { sums[v] = hn::Zero(DT()); });
    }
    HWY_INLINE void Add(const float* tail, V factor) {
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            sums[v] =
                hn::MulAdd(hn::Load(DT(), tail + v * hn::MaxLanes(DT())), Start(factor), sums[v]);
        });
    }
    /// With zeros behind it.
    HWY_INLINE V Whole(std::size_t v) const {
        if constexpr (hn::MaxLanes(DT()) == kLanes)
            return sums[v];
        else
            return Extended(sums[v]);
    }

private:
    static HWY_INLINE hn::Vec<DT> Start(V v) {
        if constexpr (hn::MaxLanes(DT()) == kLanes)
            return v;
        else if constexpr (hn::MaxLanes(DT()) * 2 == kLanes)
            return hn::LowerHalf(DT(), v);
        else
            return hn::LowerHalf(DT(), hn::LowerHalf(hn::Half<D>(), v));
    }
#if HWY_TARGET <= HWY_AVX3
    static HWY_INLINE V Extended(hn::Vec128<float> v) { return V{_mm512_zextps128_ps512(v.raw)}; }
    static HWY_INLINE V Extended(hn::Vec256<float> v) { return V{_mm512_zextps256_ps512(v.raw)}; }
#else
    static HWY_INLINE V Extended(hn::Vec128<float> v) { return V{_mm256_zextps128_ps256(v.raw)}; }
#endif
};
template <>
struct TailSum<0> {
    static constexpr std::size_t kVectors = 0;
    HWY_INLINE void Add(const float*, V) {}
    HWY_INLINE V Whole(std::size_t) const { return hn::Zero(D()); }
};

/// Where a signal is alive: lists of kListed columns each.
struct Support {
    PlacesFunction list;
    std::uint8_t* places;  ///< kListBytes for each list
    std::uint8_t** ends;   ///< of each list

    /// In memory behind all signals.
    Support(const PackedPart& part, PlacesFunction list_, float* at)
        : list(list_),
          places(reinterpret_cast<std::uint8_t*>(at)),
          ends(reinterpret_cast<std::uint8_t**>(places +
                                                (part.n + kListed - 1) / kListed * kListBytes)) {}

    /// Returns how many are alive.
    std::size_t Find(const PackedPart& part, const Signal& signal) const {
        std::size_t alive = 0;
        for (std::size_t l = 0; l * kListed < part.n; ++l) {
            std::uint8_t* begin = places + l * kListBytes;
            ends[l] = list(signal.alive + l * kListed / 8, std::min(kListed, part.n - l * kListed),
                           begin);
            alive += static_cast<std::size_t>(ends[l] - begin);
        }
        return alive;
    }
};

/// A x in registers: columns of kLines cache lines and a tail of kTail floats.
template <std::size_t kLines, std::size_t kTail>
struct ColumnSums {
    static constexpr std::size_t kMain = kLines * 16 / kLanes;
    V sums[kMain + 1];
    TailSum<kTail> tail;

    ColumnSums() {
        ForEach<kMain>([&](auto v) HWY_ATTR { sums[v] = hn::Zero(D()); });
    }

    /// Adds the listed ones of the columns from `first` on.
    HWY_INLINE void Add(const PackedPart& part, const Signal& signal, std::size_t first,
                        const std::uint8_t* place, const std::uint8_t* end) {
        const float* x = signal.x1 + first;
        const float* a = part.a.data() + first * kLines * 16;
        const float* tails = part.tail.data() + first * kTail;
        for (; place != end; ++place) {
            const std::size_t j = *place;
            const float* column = a + j * (kLines * 16);
            asm("" : "+r"(column));  // g++ 12 made an address of each line
            const V factor = hn::Set(D(), x[j]);
            ForEach<kMain>([&](auto v) HWY_ATTR {
                sums[v] = hn::MulAdd(hn::Load(D(), column + v * kLanes), factor, sums[v]);
            });
            tail.Add(tails + j * kTail, factor);
        }
    }

    template <bool kPlain>
    HWY_INLINE void Finish(const PackedPart& part, const PackedLayer& layer, std::size_t alive,
                           Signal& signal) const {
        constexpr std::size_t kVectors = kMain + TailSum<kTail>::kVectors;
        const ResidualStep<kPlain> step(layer, alive, signal);
        V r[kVectors + 1];
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            if constexpr (v < kMain)
                r[v] = step.Finish(v * kLanes, sums[v]);
            else
                r[v] = step.Finish(v * kLanes, tail.Whole(v - kMain));
        });
        if (!part.residual_threshold) return;
        SizeSum sizes;
        ForEach<kVectors>([&](auto v) HWY_ATTR { sizes.Add(part, v * kLanes, r[v]); });
        signal.total = sizes.Total();
    }
};

/// A x over the support, then r. One list needs no loop over lists, around which g++ 12 kept the
/// sums in memory.
template <bool kPlain, std::size_t kLines, std::size_t kTail>
HWY_NOINLINE void NextResidual(const PackedPart& part, const PackedLayer& layer,
                               const Support& support, Signal& signal) {
    std::uint8_t* places = support.places;
    const std::uint8_t* end = support.list(signal.alive, part.n, places);
    ColumnSums<kLines, kTail> sums;
    sums.Add(part, signal, 0, places, end);
    sums.template Finish<kPlain>(part, layer, static_cast<std::size_t>(end - places), signal);
}
template <bool kPlain, std::size_t kLines, std::size_t kTail>
HWY_NOINLINE void NextResidualOfLists(const PackedPart& part, const PackedLayer& layer,
                                      const Support& support, Signal& signal) {
    const std::size_t alive = support.Find(part, signal);
    ColumnSums<kLines, kTail> sums;
    for (std::size_t l = 0; l * kListed < part.n; ++l)
        sums.Add(part, signal, l * kListed, support.places + l * kListBytes, support.ends[l]);
    sums.template Finish<kPlain>(part, layer, alive, signal);
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

/// p (+)= A x over a list of columns from `first` on, four at a time, so that p is read and written
/// once for four.
HWY_INLINE void StreamColumns(const PackedPart& part, const Signal& signal, std::size_t first,
                              const std::uint8_t* place, const std::uint8_t* end) {
    const D d;
    while (place != end) {
        const std::size_t some = end - place >= 4 ? 4 : 1;
        const float* columns[4];
        const float* tails[4];
        V factors[4];
        for (std::size_t l = 0; l < some; ++l) {
            const std::size_t j = first + place[l];
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
        place += some;
    }
}

/// The same for columns of five cache lines and more, which are streamed.
template <bool kPlain>
HWY_NOINLINE void StreamResidual(const PackedPart& part, const PackedLayer& layer,
                                 const Support& support, Signal& signal) {
    const D d;
    const std::size_t alive = support.Find(part, signal);
    const std::size_t rows = part.main_rows + part.tail_stride;
    for (std::size_t i = 0; i < rows; i += kLanes) hn::Store(hn::Zero(d), d, signal.p1 + i);
    for (std::size_t l = 0; l * kListed < part.n; ++l)
        StreamColumns(part, signal, l * kListed, support.places + l * kListBytes, support.ends[l]);
    const ResidualStep<kPlain> step(layer, alive, signal);
    SizeSum sizes;
    for (std::size_t i = 0; i < part.m; i += kLanes) {
        V p = hn::Load(d, signal.p1 + i);
        // A short tail is read with what stands behind it.
        if (i + kLanes > part.m) p = hn::IfThenElseZero(hn::FirstN(d, part.m - i), p);
        sizes.Add(part, i, step.Finish(i, p));
    }
    signal.total = sizes.Total();
}

using ResidualFunction = void (*)(const PackedPart&, const PackedLayer&, const Support&, Signal&);

template <bool kPlain, std::size_t kLines>
ResidualFunction ResidualOfLines(const PackedPart& part) {
    static constexpr ResidualFunction one[] = {
        &NextResidual<kPlain, kLines, 0>, &NextResidual<kPlain, kLines, 4>,
        &NextResidual<kPlain, kLines, 8>, &NextResidual<kPlain, kLines, 16>};
    static constexpr ResidualFunction more[] = {
        &NextResidualOfLists<kPlain, kLines, 0>, &NextResidualOfLists<kPlain, kLines, 4>,
        &NextResidualOfLists<kPlain, kLines, 8>, &NextResidualOfLists<kPlain, kLines, 16>};
    const auto tail = static_cast<std::size_t>(std::bit_width(part.tail_stride / 4));
    return (part.n <= kListed ? one : more)[tail];
}

template <bool kPlain>
ResidualFunction ResidualOf(const PackedPart& part) {
    switch (part.main_rows / 16) {
        case 0:
            return ResidualOfLines<kPlain, 0>(part);
        case 1:
            return ResidualOfLines<kPlain, 1>(part);
        case 2:
            return ResidualOfLines<kPlain, 2>(part);
        case 3:
            return ResidualOfLines<kPlain, 3>(part);
        case 4:
            return ResidualOfLines<kPlain, 4>(part);
        default:
            return &StreamResidual<kPlain>;
    }
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
