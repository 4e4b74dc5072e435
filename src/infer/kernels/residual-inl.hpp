// c y - A x over the support, and the residual from it. Included once for every target.

#if defined(PIBINN_INFER_RESIDUAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_RESIDUAL_INL
#undef PIBINN_INFER_RESIDUAL_INL
#else
#define PIBINN_INFER_RESIDUAL_INL
#endif

#include <algorithm>
#include <bit>

#include <hwy/highway.h>

#include "infer/kernels/places-inl.hpp"
#include "infer/kernels/signal-inl.hpp"
#include "infer/kernels/sizes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

/// What columns are subtracted from: y in the unit of x, some rows from i on.
template <bool kPlain>
struct Given {
    V factor;
    const float* y;

    HWY_INLINE Given(const PackedLayer& layer, const Signal& signal)
        : factor(hn::Set(D(), layer.given)), y(signal.y) {}

    template <class DT>
    HWY_INLINE hn::Vec<DT> operator()(DT d, std::size_t i) const {
        const hn::Vec<DT> measured = hn::Load(d, y + i);
        return kPlain ? measured : hn::Mul(FirstLanes(d, factor), measured);
    }
};

/// From the misfit, some rows of it from i on, to r.
template <bool kPlain>
struct ResidualStep {
    V back, omega;
    const float* e2;
    float *e1, *r;

    ResidualStep(const PackedLayer& layer, std::size_t alive, const Signal& signal)
        : back(hn::Set(D(), layer.back)),
          omega(hn::Set(D(), layer.omega * static_cast<float>(static_cast<std::int32_t>(alive)))),
          e2(signal.e2),
          e1(signal.e1),
          r(signal.r) {}

    template <class DT>
    HWY_INLINE hn::Vec<DT> Finish(DT d, std::size_t i, hn::Vec<DT> misfit) const {
        hn::Vec<DT> now = misfit;
        if constexpr (!kPlain) {
            hn::Store(misfit, d, e1 + i);
            now = Residual(misfit, hn::Load(d, e2 + i), hn::Load(d, r + i), FirstLanes(d, back),
                           FirstLanes(d, omega));
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

    template <bool kPlain>
    HWY_INLINE TailSum(const Given<kPlain>& given, std::size_t i) {
        ForEach<kVectors>([&](auto v)
                              HWY_ATTR { sums[v] = given(DT(), i + v * hn::MaxLanes(DT())); });
    }
    HWY_INLINE void Subtract(const float* tail, V factor) {
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            sums[v] = hn::NegMulAdd(hn::Load(DT(), tail + v * hn::MaxLanes(DT())),
                                    FirstLanes(DT(), factor), sums[v]);
        });
    }
    /// With zeros behind it.
    static HWY_INLINE V Whole(hn::Vec<DT> v) {
        if constexpr (hn::MaxLanes(DT()) == kLanes)
            return v;
        else
            return Extended(v);
    }

private:
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
    template <bool kPlain>
    TailSum(const Given<kPlain>&, std::size_t) {}
    HWY_INLINE void Subtract(const float*, V) {}
};

/// Where a signal is alive: lists of kListed columns each.
struct Support {
    PlacesFunction list;
    std::uint8_t* places;  ///< kListBytes for each list
    std::uint8_t** ends;   ///< of each list, if there are several
    std::size_t alive;     ///< columns in all lists

    Support() = default;
    /// In the memory from `at` on, vector_support_floats() of it.
    Support(const PackedPart& part, PlacesFunction list_, float* at)
        : list(list_),
          places(reinterpret_cast<std::uint8_t*>(at)),
          ends(reinterpret_cast<std::uint8_t**>(places +
                                                (part.n + kListed - 1) / kListed * kListBytes)) {}

    template <bool kOneList>
    HWY_INLINE void Find(const PackedPart& part, const Signal& signal) {
        if constexpr (kOneList) {
            alive =
                static_cast<std::size_t>(ListPlaces(list, signal.alive, part.n, places) - places);
            return;
        }
        alive = 0;
        for (std::size_t l = 0; l * kListed < part.n; ++l) {
            std::uint8_t* begin = places + l * kListBytes;
            ends[l] = ListPlaces(list, signal.alive + l * kListed / 8,
                                 std::min(kListed, part.n - l * kListed), begin);
            alive += static_cast<std::size_t>(ends[l] - begin);
        }
    }
};

/// c y - A x in registers: columns of kLines cache lines and a tail of kTail floats.
template <std::size_t kLines, std::size_t kTail>
struct ColumnSums {
    static constexpr std::size_t kMain = kLines * 16 / kLanes;
    /// Vectors whose rows are all held by twos, and those before which some may be.
    struct Bounds {
        static constexpr std::size_t kLeast = kLines * 16 + (kTail < 8 ? kTail / 4 : kTail / 2 + 1);
        static constexpr std::size_t kWhole = 2 * kLayout.groups(kLeast) / kLanes;
        static constexpr std::size_t kSome = FirstSizes(kLines * 16, kTail) / kLanes;
    };
    V sums[kMain + 1];
    TailSum<kTail> tail;

    template <bool kPlain>
    explicit HWY_INLINE ColumnSums(const Given<kPlain>& given) : tail(given, kMain * kLanes) {
        ForEach<kMain>([&](auto v) HWY_ATTR { sums[v] = given(D(), v * kLanes); });
    }

    /// Takes off the listed ones of the columns from `first` on.
    HWY_INLINE void Subtract(const PackedPart& part, const Signal& signal, std::size_t first,
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
                sums[v] = hn::NegMulAdd(hn::Load(D(), column + v * kLanes), factor, sums[v]);
            });
            tail.Subtract(tails + j * kTail, factor);
        }
    }

    template <bool kPlain>
    HWY_INLINE void Finish(const ResidualStep<kPlain>& step, const PackedPart& part,
                           const PackedLayer& layer, const PairedRows& paired, const Signal& signal,
                           bool alone) const {
        using Tail = TailSum<kTail>;
        constexpr std::size_t kVectors = kMain + Tail::kVectors;
        V r[kVectors + 1];
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            if constexpr (v < kMain) {
                r[v] = step.Finish(D(), v * kLanes, sums[v]);
            } else {
                const typename Tail::DT d;
                r[v] = Tail::Whole(step.Finish(d, kMain * kLanes + (v - kMain) * hn::MaxLanes(d),
                                               tail.sums[v - kMain]));
            }
        });
        if (!part.residual_threshold) return;
        SizeSum sizes;
        ForEach<kVectors>([&](auto v) HWY_ATTR { sizes.template Add<v, Bounds>(paired, r[v]); });
        ResidualThresholds::Take(sizes, part, layer.theta, alone, signal);
    }
};

/// c y - A x over the support, then r, of some signals. One list needs no loop over lists, around
/// which g++ 12 kept the sums in memory.
template <bool kPlain, std::size_t kLines, std::size_t kTail, bool kOneList>
HWY_NOINLINE void NextResidual(const PackedPart& part, const PackedLayer& layer, Support* supports,
                               const Signal* signals, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) supports[i].Find<kOneList>(part, signals[i]);
    const PairedRows paired(part);
    const PackedLayer held = layer;  // read once: for all that g++ knows, a store might change it
    for (std::size_t i = 0; i < count; ++i) {
        const Support& support = supports[i];
        ColumnSums<kLines, kTail> sums(Given<kPlain>(held, signals[i]));
        if constexpr (kOneList)
            sums.Subtract(part, signals[i], 0, support.places, support.places + support.alive);
        else
            for (std::size_t l = 0; l * kListed < part.n; ++l)
                sums.Subtract(part, signals[i], l * kListed, support.places + l * kListBytes,
                              support.ends[l]);
        const ResidualStep<kPlain> step(held, support.alive, signals[i]);
        sums.Finish(step, part, held, paired, signals[i], count == 1);
    }
}

/// sums -= factor column, for four columns or one.
template <std::size_t kColumns>
HWY_INLINE void SubtractColumns(const float* const* columns, const V* factors, std::size_t length,
                                float* HWY_RESTRICT sums) {
    const D d;
    for (std::size_t i = 0; i < length; i += kLanes) {
        V sum = hn::Load(d, sums + i);
        for (std::size_t c = 0; c < kColumns; ++c)
            sum = hn::NegMulAdd(hn::LoadU(d, columns[c] + i), factors[c], sum);
        hn::Store(sum, d, sums + i);
    }
}

/// sums -= A x over a list of columns from `first` on, four at a time, so that they are read and
/// written once for four.
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
        float* rest = signal.sums + part.main_rows;
        if (some == 4) {
            SubtractColumns<4>(columns, factors, part.main_rows, signal.sums);
            SubtractColumns<4>(tails, factors, part.tail_stride, rest);
        } else {
            SubtractColumns<1>(columns, factors, part.main_rows, signal.sums);
            SubtractColumns<1>(tails, factors, part.tail_stride, rest);
        }
        place += some;
    }
}

/// The same for columns of five cache lines and more, which are streamed.
template <bool kPlain>
HWY_NOINLINE void StreamResidual(const PackedPart& part, const PackedLayer& layer,
                                 Support* supports, const Signal* signals, std::size_t count) {
    const D d;
    const PairedRows paired(part);
    for (const Signal* signal = signals; signal != signals + count; ++signal, ++supports) {
        supports->Find<false>(part, *signal);
        const std::size_t rows = part.main_rows + part.tail_stride;
        const Given<kPlain> given(layer, *signal);
        for (std::size_t i = 0; i < rows; i += kLanes) hn::Store(given(d, i), d, signal->sums + i);
        for (std::size_t l = 0; l * kListed < part.n; ++l)
            StreamColumns(part, *signal, l * kListed, supports->places + l * kListBytes,
                          supports->ends[l]);
        const ResidualStep<kPlain> step(layer, supports->alive, *signal);
        SizeSum sizes;
        for (std::size_t i = 0; i < part.m; i += kLanes) {
            V misfit = hn::Load(d, signal->sums + i);
            // A short tail is read with what stands behind it.
            if (i + kLanes > part.m) misfit = hn::IfThenElseZero(hn::FirstN(d, part.m - i), misfit);
            sizes.Add(paired, i, step.Finish(d, i, misfit));
        }
        ResidualThresholds::Take(sizes, part, layer.theta, count == 1, *signal);
    }
}

using ResidualFunction = void (*)(const PackedPart&, const PackedLayer&, Support*, const Signal*,
                                  std::size_t);

template <bool kPlain, std::size_t kLines, bool kOneList>
ResidualFunction ResidualOfLines(const PackedPart& part) {
    constexpr std::size_t none = kLines == 0 ? 4 : 0;  // there is always some row
    static constexpr ResidualFunction all[] = {
        &NextResidual<kPlain, kLines, none, kOneList>, &NextResidual<kPlain, kLines, 4, kOneList>,
        &NextResidual<kPlain, kLines, 8, kOneList>, &NextResidual<kPlain, kLines, 16, kOneList>};
    return all[std::bit_width(part.tail_stride / 4)];
}
template <bool kPlain, std::size_t kLines>
ResidualFunction ResidualOfLines(const PackedPart& part) {
    return part.n <= kListed ? ResidualOfLines<kPlain, kLines, true>(part)
                             : ResidualOfLines<kPlain, kLines, false>(part);
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
