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

#include "core/static_count.hpp"
#include "infer/kernels/residual_l1-inl.hpp"
#include "infer/kernels/sign_columns-inl.hpp"
#include "infer/kernels/signal-inl.hpp"
#include "infer/kernels/support_indices-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// What columns are subtracted from: y in the unit of x, some rows from i on.
template <bool kPlain>
struct ScaledY {
    V factor;
    const float* y;

    HWY_INLINE ScaledY(const PackedLayer& layer, const Signal& signal)
        : factor(hn::Set(D(), layer.y_factor)), y(signal.y) {}

    template <class DT>
    HWY_INLINE hn::Vec<DT> operator()(DT d, std::size_t i) const {
        const hn::Vec<DT> measured = hn::Load(d, y + i);
        return kPlain ? measured : hn::Mul(FirstLanes(d, factor), measured);
    }
};

/// From the misfit, some rows of it from i on, to r.
template <bool kPlain>
struct ResidualStep {
    V prev_residual_factor, omega;
    const float* e2;
    float *e1, *r;

    /// `alive` entries of x1 are not zero; of a learned shrink the slopes count.
    ResidualStep(const PackedBlock& block, const PackedLayer& layer, std::size_t alive,
                 const Signal& signal)
        : prev_residual_factor(hn::Set(D(), layer.prev_residual_factor)),
          omega(hn::Set(
              D(), layer.omega * (block.pieces > 0 || block.by_sites
                                      ? *signal.slopes
                                      : static_cast<float>(static_cast<std::int32_t>(alive))))),
          e2(signal.e2),
          e1(signal.e1),
          r(signal.r) {}

    template <class DT>
    HWY_INLINE hn::Vec<DT> Finish(DT d, std::size_t i, hn::Vec<DT> misfit) const {
        hn::Vec<DT> now = misfit;
        if constexpr (!kPlain) {
            hn::Store(misfit, d, e1 + i);
            now = Residual(misfit, hn::Load(d, e2 + i), hn::Load(d, r + i),
                           FirstLanes(d, prev_residual_factor), FirstLanes(d, omega));
        }
        hn::Store(now, d, r + i);
        return now;
    }
};

/// The rows behind the last whole cache line, in a vector that is just long enough, so that none of
/// its loads crosses a line.
template <std::size_t kTail>
struct TailSum {
    using DT = hn::CappedTag<float, kTail == 0 ? kLanes : std::min(kTail, kLanes)>;
    static constexpr std::size_t kVectors = kTail / hn::MaxLanes(DT());
    hn::Vec<DT> sums[kVectors + 1];  // one more, since none is no array

    template <bool kPlain>
    HWY_INLINE TailSum(const ScaledY<kPlain>& scaled_y, std::size_t i) {
        ForEach<kVectors>([&](auto v)
                              HWY_ATTR { sums[v] = scaled_y(DT(), i + v * hn::MaxLanes(DT())); });
    }
    HWY_INLINE void Subtract(const float* tail, V factor) {
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            sums[v] = hn::NegMulAdd(hn::Load(DT(), tail + v * hn::MaxLanes(DT())),
                                    FirstLanes(DT(), factor), sums[v]);
        });
    }
};

/// The support of a signal: lists of up to kListed columns each.
struct Support {
    IndexLister lister;
    std::uint8_t* indices;  ///< kListBytes for each list
    std::uint8_t** ends;    ///< of each list, if there are several
    std::size_t alive;      ///< columns in all lists

    Support() = default;
    /// In the memory from `at` on, vector_support_floats() of it.
    Support(const PackedBlock& block, IndexLister lister_, float* at)
        : lister(lister_),
          indices(reinterpret_cast<std::uint8_t*>(at)),
          ends(reinterpret_cast<std::uint8_t**>(indices +
                                                (block.n + kListed - 1) / kListed * kListBytes)) {}

    template <bool kOneList>
    HWY_INLINE void Find(const PackedBlock& block, const Signal& signal) {
        if constexpr (kOneList) {
            alive = static_cast<std::size_t>(ListIndices(lister, signal.alive, block.n, indices) -
                                             indices);
            return;
        }
        alive = 0;
        for (std::size_t l = 0; l * kListed < block.n; ++l) {
            std::uint8_t* begin = indices + l * kListBytes;
            ends[l] = ListIndices(lister, signal.alive + l * kListed / 8,
                                  std::min(kListed, block.n - l * kListed), begin);
            alive += static_cast<std::size_t>(ends[l] - begin);
        }
    }
};

/// c y - A x in registers: columns of kLines cache lines and a tail of kTail floats.
template <std::size_t kLines, std::size_t kTail>
struct ColumnSums {
    static constexpr std::size_t kMain = kLines * 16 / kLanes;
    /// Vectors whose rows are all butterfly rows, and those before which some may be.
    struct Bounds {
        static constexpr std::size_t kLeast = kLines * 16 + (kTail < 8 ? kTail / 4 : kTail / 2 + 1);
        static constexpr std::size_t kWhole = 2 * kLayout.groups(kLeast) / kLanes;
        static constexpr std::size_t kSome = FirstAbsRows(kLines * 16, kTail) / kLanes;
    };
    V sums[kMain + 1];
    TailSum<kTail> tail;

    template <bool kPlain>
    explicit HWY_INLINE ColumnSums(const ScaledY<kPlain>& scaled_y)
        : tail(scaled_y, kMain * kLanes) {
        ForEach<kMain>([&](auto v) HWY_ATTR { sums[v] = scaled_y(D(), v * kLanes); });
    }

    /// Takes off the listed ones of the columns from `first` on.
    HWY_INLINE void Subtract(const PackedBlock& block, const Signal& signal, std::size_t first,
                             const std::uint8_t* index, const std::uint8_t* end) {
        for (; index != end; ++index) SubtractColumn(block, signal, first + *index);
    }

    /// The same by the bits of up to 128 columns: one signal alone, which has to wait for its list,
    /// took 15 % more with one at 50 x 100. Several signals together take 15 % more without. One
    /// loop for both words, since its end is not foreseen.
    HWY_INLINE void SubtractByBits(const PackedBlock& block, const Signal& signal,
                                   std::uint64_t low, std::uint64_t high, std::size_t count) {
        for (; count != 0; --count) {
            const bool in_low = low != 0;
            const std::size_t j =
                static_cast<std::size_t>(std::countr_zero(in_low ? low : high)) + (in_low ? 0 : 64);
            high = in_low ? high : high & (high - 1);
            low &= low - 1;
            SubtractColumn(block, signal, j);
        }
    }

    HWY_INLINE void SubtractColumn(const PackedBlock& block, const Signal& signal, std::size_t j) {
        const float* column = block.a.data() + j * (kLines * 16);
        HideOrigin(column);  // g++ 12 made an address of each cache line
        const V factor = hn::Set(D(), signal.x1[j]);
        ForEach<kMain>([&](auto v) HWY_ATTR {
            sums[v] = hn::NegMulAdd(hn::Load(D(), column + v * kLanes), factor, sums[v]);
        });
        tail.Subtract(block.tail.data() + j * kTail, factor);
    }

    template <bool kPlain>
    HWY_INLINE void Finish(const ResidualStep<kPlain>& step, const PackedBlock& block,
                           const PackedLayer& layer, const ButterflyRows& butterfly,
                           const Signal& signal, bool alone) const {
        using Tail = TailSum<kTail>;
        constexpr std::size_t kVectors = kMain + Tail::kVectors;
        V r[kVectors + 1];
        ForEach<kVectors>([&](auto v) HWY_ATTR {
            if constexpr (v < kMain) {
                r[v] = step.Finish(D(), v * kLanes, sums[v]);
            } else {
                const typename Tail::DT d;
                r[v] = ZeroExtended(step.Finish(d, kMain * kLanes + (v - kMain) * hn::MaxLanes(d),
                                                tail.sums[v - kMain]));
            }
        });
        if (!block.residual_threshold) return;
        AbsSum abs_sum;
        ForEach<kVectors>([&](auto v)
                              HWY_ATTR { abs_sum.template Add<v, Bounds>(butterfly, r[v]); });
        ResidualThresholds::Take(abs_sum, block, layer.theta, alone, signal);
    }
};

/// c y - A x over the support, then r, of some signals. One list needs no loop over lists, around
/// which g++ 12 kept the sums in memory.
template <bool kPlain, std::size_t kLines, std::size_t kTail, bool kOneList>
HWY_NOINLINE void NextResidual(const PackedBlock& block, const PackedLayer& layer,
                               Support* supports, const Signal* signals, std::size_t count) {
    const bool by_bits = kOneList && count == 1 && block.n <= 128;
    if (!by_bits)
        for (std::size_t i = 0; i < count; ++i) supports[i].Find<kOneList>(block, signals[i]);
    const ButterflyRows butterfly(block);
    const PackedLayer copy = layer;  // read once: for all that g++ knows, a store might change it
    for (std::size_t i = 0; i < count; ++i) {
        Support& support = supports[i];
        ColumnSums<kLines, kTail> sums(ScaledY<kPlain>(copy, signals[i]));
        if (by_bits) {
            const std::uint8_t* bits = signals[i].alive;
            const std::uint64_t low = AliveBits(bits, std::min<std::size_t>(block.n, 64));
            const std::uint64_t high = block.n > 64 ? AliveBits(bits + 8, block.n - 64) : 0;
            support.alive = static_cast<std::size_t>(std::popcount(low) + std::popcount(high));
            sums.SubtractByBits(block, signals[i], low, high, support.alive);
        } else if constexpr (kOneList)
            sums.Subtract(block, signals[i], 0, support.indices, support.indices + support.alive);
        else
            for (std::size_t l = 0; l * kListed < block.n; ++l)
                sums.Subtract(block, signals[i], l * kListed, support.indices + l * kListBytes,
                              support.ends[l]);
        const ResidualStep<kPlain> step(block, copy, support.alive, signals[i]);
        sums.Finish(step, block, copy, butterfly, signals[i], count == 1);
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
HWY_INLINE void StreamColumns(const PackedBlock& block, const Signal& signal, std::size_t first,
                              const std::uint8_t* index, const std::uint8_t* end) {
    const D d;
    while (index != end) {
        const std::size_t some = end - index >= 4 ? 4 : 1;
        const float* columns[4];
        const float* tails[4];
        V factors[4];
        for (std::size_t l = 0; l < some; ++l) {
            const std::size_t j = first + index[l];
            columns[l] = block.a.data() + j * block.main_rows;
            tails[l] = block.tail.data() + j * block.tail_stride;
            factors[l] = hn::Set(d, signal.x1[j]);
        }
        float* rest = signal.sums + block.main_rows;
        if (some == 4) {
            SubtractColumns<4>(columns, factors, block.main_rows, signal.sums);
            SubtractColumns<4>(tails, factors, block.tail_stride, rest);
        } else {
            SubtractColumns<1>(columns, factors, block.main_rows, signal.sums);
            SubtractColumns<1>(tails, factors, block.tail_stride, rest);
        }
        index += some;
    }
}

/// The same for columns of five cache lines and more, which are streamed.
template <bool kPlain>
HWY_NOINLINE void StreamResidual(const PackedBlock& block, const PackedLayer& layer,
                                 Support* supports, const Signal* signals, std::size_t count) {
    const D d;
    const ButterflyRows butterfly(block);
    for (const Signal* signal = signals; signal != signals + count; ++signal, ++supports) {
        supports->Find<false>(block, *signal);
        const std::size_t rows = block.main_rows + block.tail_stride;
        const ScaledY<kPlain> scaled_y(layer, *signal);
        for (std::size_t i = 0; i < rows; i += kLanes)
            hn::Store(scaled_y(d, i), d, signal->sums + i);
        for (std::size_t l = 0; l * kListed < block.n; ++l)
            StreamColumns(block, *signal, l * kListed, supports->indices + l * kListBytes,
                          supports->ends[l]);
        const ResidualStep<kPlain> step(block, layer, supports->alive, *signal);
        AbsSum abs_sum;
        for (std::size_t i = 0; i < block.m; i += kLanes) {
            V misfit = hn::Load(d, signal->sums + i);
            // A short tail is read with what stands behind it.
            if (i + kLanes > block.m)
                misfit = hn::IfThenElseZero(hn::FirstN(d, block.m - i), misfit);
            abs_sum.Add(butterfly, i, step.Finish(d, i, misfit));
        }
        ResidualThresholds::Take(abs_sum, block, layer.theta, count == 1, *signal);
    }
}

#if PIBINN_SIGN_COLUMNS

/// The columns of all lists.
HWY_INLINE std::size_t JoinLists(const PackedBlock& block, const Support& support,
                                 std::uint32_t* to) {
    const DU du;
    const hn::Rebind<std::uint8_t, DU> bytes;
    std::uint32_t* at = to;
    for (std::size_t l = 0; l * kListed < block.n; ++l) {
        const VU first = hn::Set(du, static_cast<std::uint32_t>(l * kListed));
        const std::uint8_t* list = support.indices + l * kListBytes;
        const auto count = static_cast<std::size_t>(support.ends[l] - list);
        for (std::size_t i = 0; i < count; i += kLanes)
            hn::StoreU(hn::Add(first, hn::PromoteTo(du, hn::LoadU(bytes, list + i))), du, at + i);
        at += count;
    }
    return static_cast<std::size_t>(at - to);
}

/// The same where A is of signs.
template <bool kPlain>
HWY_NOINLINE void SignResidual(const PackedBlock& block, const PackedLayer& layer,
                               Support* supports, const Signal* signals, std::size_t count) {
    const D d;
    const ButterflyRows butterfly(block);
    const V size = hn::Set(d, block.sign_size);
    for (const Signal* signal = signals; signal != signals + count; ++signal, ++supports) {
        supports->Find<false>(block, *signal);
        const SignColumnSpace& space = signal->sign_columns;
        const std::size_t columns = JoinLists(block, *supports, space.columns);
        MultiplySignColumns(block, space.columns, columns, signal->x1, 1, space);
        const ScaledY<kPlain> scaled_y(layer, *signal);
        const ResidualStep<kPlain> step(block, layer, supports->alive, *signal);
        AbsSum abs_sum;
        for (std::size_t i = 0; i < block.m; i += kLanes) {
            V misfit = hn::NegMulAdd(size, StoredSums(space, butterfly.count, i), scaled_y(d, i));
            if (i + kLanes > block.m)
                misfit = hn::IfThenElseZero(hn::FirstN(d, block.m - i), misfit);
            abs_sum.Add(butterfly, i, step.Finish(d, i, misfit));
        }
        ResidualThresholds::Take(abs_sum, block, layer.theta, count == 1, *signal);
    }
}

#endif

using ResidualFunction = void (*)(const PackedBlock&, const PackedLayer&, Support*, const Signal*,
                                  std::size_t);

/// The instance for a block's rows and columns.
template <bool kPlain>
ResidualFunction ResidualOf(const PackedBlock& block) {
    constexpr std::size_t kMostLines = 4;  // cache lines of a column whose sums stay in registers
    const bool one_list = block.n <= kListed;
#if PIBINN_SIGN_COLUMNS
    if (block.has_sign_columns()) return &SignResidual<kPlain>;
#endif
    if (block.main_rows / 16 > kMostLines) return &StreamResidual<kPlain>;
    return WithStaticCount<kMostLines, 0>(block.main_rows / 16, [&](auto lines) {
        // Tails of 0, 4, 8 and 16 floats; without a whole line there is always one.
        constexpr std::size_t kLines = decltype(lines)::value;
        const auto tail_at = static_cast<std::size_t>(std::bit_width(block.tail_stride / 4));
        return WithStaticCount<3, (kLines == 0 ? 1 : 0)>(tail_at, [&](auto at) -> ResidualFunction {
            constexpr std::size_t kAt = decltype(at)::value;
            constexpr std::size_t kTail = kAt == 0 ? 0 : std::size_t{2} << kAt;
            return one_list ? &NextResidual<kPlain, kLines, kTail, true>
                            : &NextResidual<kPlain, kLines, kTail, false>;
        });
    });
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
