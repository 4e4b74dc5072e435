#include <algorithm>
#include <array>
#include <utility>

#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/vector_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/support_writer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

using D = hn::CappedTag<float, 16>;
using DU = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;
using VU = hn::Vec<DU>;
constexpr std::size_t kLanes = HWY_TARGET <= HWY_AVX3 ? 16 : 8;
constexpr std::size_t kGroup = kLayout.rows_per_group;
constexpr std::size_t kGroups = kLayout.groups_per_word;
// Vectors of A x that are summed in registers over all columns; more rows are streamed.
constexpr std::size_t kRegisterVectors = 8;

/// All signed sums of a group of rows: entry e adds row b where bit b of e is set and subtracts it
/// where not. Rounded as a chain from the first row on.
struct GroupTable {
    V low;
#if HWY_TARGET <= HWY_AVX3
    V high;
#endif
};

/// +1 where bit b of the lane's number is set, else -1.
HWY_INLINE V LaneSigns(std::size_t b) {
    const D d;
    const DU du;
    const VU lane = hn::Iota(du, 0);
    const auto set = hn::TestBit(lane, hn::Set(du, std::uint32_t{1} << b));
    return hn::IfThenElse(hn::RebindMask(d, set), hn::Set(d, 1.0F), hn::Set(d, -1.0F));
}

HWY_INLINE GroupTable MakeTable(const float* r, const V* signs) {
    const D d;
    V sum = hn::Mul(signs[0], hn::Set(d, r[0]));
    sum = hn::MulAdd(signs[1], hn::Set(d, r[1]), sum);
    sum = hn::MulAdd(signs[2], hn::Set(d, r[2]), sum);
#if HWY_TARGET <= HWY_AVX3
    sum = hn::MulAdd(signs[3], hn::Set(d, r[3]), sum);
    const V last = hn::Set(d, r[4]);
    return {hn::Sub(sum, last), hn::Add(sum, last)};
#else
    return {sum};
#endif
}

/// The entry that the lowest bits of each lane's index name; the bits above do not count.
HWY_INLINE V LookUp(const GroupTable& table, VU index) {
#if HWY_TARGET <= HWY_AVX3
    return V{_mm512_permutex2var_ps(table.low.raw, index.raw, table.high.raw)};
#else
    return V{_mm256_permutevar8x32_ps(table.low.raw, index.raw)};
#endif
}

template <std::size_t kAt, std::size_t kSignals, std::size_t kUsed>
HWY_INLINE void AddLookUp(const GroupTable (&tables)[kSignals][kUsed], VU word, V* sums) {
    const VU index = hn::ShiftRight<kGroup * kAt>(word);
    for (std::size_t s = 0; s < kSignals; ++s)
        sums[s] = hn::Add(sums[s], LookUp(tables[s][kAt], index));
}
template <std::size_t kSignals, std::size_t kUsed, std::size_t... kAt>
HWY_INLINE void AddLookUps(const GroupTable (&tables)[kSignals][kUsed], VU word, V* sums,
                           std::index_sequence<kAt...>) {
    (AddLookUp<kAt>(tables, word, sums), ...);
}

/// One signal on its way. Whatever stands behind row m - 1 is zero in r and anything in p.
struct Signal {
    float *y, *p1, *p2, *r;      ///< rows
    float *x1, *x2, *q;          ///< columns
    std::uint32_t* support;      ///< of x1
    std::size_t count;           ///< entries of the support
    float total;                 ///< the sum of |r|
};

/// q (+)= the signed sums of the rows of one word, `kUsed` groups of them, for all columns of
/// kSignals signals: they share the words and the shifts.
template <std::size_t kSignals, std::size_t kPlanes, std::size_t kUsed>
HWY_NOINLINE void AddWord(const PackedPart& part, const std::uint32_t* HWY_RESTRICT words,
                          const Signal* signals, std::size_t first_row) {
    const D d;
    const DU du;
    const std::size_t stride = part.stride;
    const std::size_t plane_size = part.plane_size();
    const V signs[4] = {LaneSigns(0), LaneSigns(1), LaneSigns(2), LaneSigns(3)};
    GroupTable tables[kSignals][kUsed];
    float* HWY_RESTRICT q[kSignals];
    for (std::size_t s = 0; s < kSignals; ++s) {
        q[s] = signals[s].q;
        for (std::size_t g = 0; g < kUsed; ++g)
            tables[s][g] = MakeTable(signals[s].r + first_row + g * kGroup, signs);
    }
    const bool first = first_row == 0;
    for (std::size_t j = 0; j < stride; j += kLanes) {
        V sums[kSignals];
        for (std::size_t s = 0; s < kSignals; ++s)
            sums[s] = first ? hn::Zero(d) : hn::Load(d, q[s] + j);
        for (std::size_t p = 0; p < kPlanes; ++p)
            AddLookUps(tables, hn::Load(du, words + p * plane_size + j), sums,
                       std::make_index_sequence<kUsed>());
        for (std::size_t s = 0; s < kSignals; ++s) hn::Store(sums[s], d, q[s] + j);
    }
}

using AddWordFunction = void (*)(const PackedPart&, const std::uint32_t*, const Signal*,
                                 std::size_t);

template <std::size_t kSignals, std::size_t... kUsed>
AddWordFunction AddWordOf(std::size_t planes, std::size_t used, std::index_sequence<kUsed...>) {
    static constexpr AddWordFunction one[] = {&AddWord<kSignals, 1, kUsed + 1>...};
    static constexpr AddWordFunction two[] = {&AddWord<kSignals, 2, kUsed + 1>...};
    return (planes == 1 ? one : two)[used - 1];
}

/// q = B^T r with the signs B of one layer.
template <std::size_t kSignals>
struct SignProduct {
    AddWordFunction whole, last;

    explicit SignProduct(const PackedPart& part) {
        const std::size_t groups = (part.m + kGroup - 1) / kGroup;
        const auto all = std::make_index_sequence<kGroups>();
        whole = AddWordOf<kSignals>(part.planes, kGroups, all);
        last = AddWordOf<kSignals>(part.planes, groups - (part.words - 1) * kGroups, all);
    }

    HWY_INLINE void operator()(const PackedPart& part, const std::uint32_t* signs,
                               const Signal* signals) const {
        for (std::size_t w = 0; w < part.words; ++w)
            (w + 1 == part.words ? last : whole)(part, signs + w * part.stride, signals,
                                                 w * kLayout.rows_per_word());
    }
};

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

/// A x over the supports, in registers, then r. Signals take turns, since the sums of one alone
/// would wait for each other.
template <bool kPlain, std::size_t kSignals, std::size_t kVectors>
HWY_NOINLINE void NextResiduals(const PackedPart& part, const PackedLayer& layer,
                                Signal* signals) {
    const D d;
    const std::size_t m = part.m;
    const float* HWY_RESTRICT a = part.a.data();
    V sum[kSignals][kVectors];
    for (auto& row : sum)
        for (V& v : row) v = hn::Zero(d);
    const auto add = [&](std::size_t s, std::size_t c) HWY_ATTR {
        const std::size_t j = signals[s].support[c];
        const V factor = hn::Set(d, signals[s].x1[j]);
        for (std::size_t v = 0; v < kVectors; ++v)
            sum[s][v] = hn::MulAdd(hn::LoadU(d, a + j * m + v * kLanes), factor, sum[s][v]);
    };
    std::size_t common = signals[0].count;
    if constexpr (kSignals == 2) {
        common = std::min(common, signals[1].count);
        for (std::size_t c = 0; c < common; ++c) {
            add(0, c);
            add(1, c);
        }
        for (std::size_t c = common; c < signals[1].count; ++c) add(1, c);
    } else {
        common = 0;
    }
    for (std::size_t c = common; c < signals[0].count; ++c) add(0, c);
    for (std::size_t s = 0; s < kSignals; ++s) {
        const ResidualStep<kPlain> step(layer, signals[s]);
        V total = hn::Zero(d);
        for (std::size_t v = 0; v < kVectors; ++v)
            total = hn::Add(total, step.Finish(signals[s], m, v * kLanes, sum[s][v]));
        if (part.residual_threshold) signals[s].total = SumLanes(total);
    }
}

/// The same for long columns: four at a time, so that p is read and written once for four.
HWY_INLINE void StreamColumns(const PackedPart& part, const Signal& signal) {
    const D d;
    const std::size_t m = part.m;
    const std::size_t count = signal.count;
    const float* HWY_RESTRICT a = part.a.data();
    const float* HWY_RESTRICT x = signal.x1;
    const std::uint32_t* HWY_RESTRICT support = signal.support;
    float* HWY_RESTRICT p = signal.p1;
    for (std::size_t i = 0; i < m; i += kLanes) hn::Store(hn::Zero(d), d, p + i);
    std::size_t c = 0;
    for (; c + 4 <= count; c += 4) {
        const float* HWY_RESTRICT column[4];
        V factor[4];
        for (std::size_t l = 0; l < 4; ++l) {
            column[l] = a + support[c + l] * m;
            factor[l] = hn::Set(d, x[support[c + l]]);
        }
        for (std::size_t i = 0; i < m; i += kLanes) {
            V sum = hn::Load(d, p + i);
            for (std::size_t l = 0; l < 4; ++l)
                sum = hn::MulAdd(hn::LoadU(d, column[l] + i), factor[l], sum);
            hn::Store(sum, d, p + i);
        }
    }
    for (; c < count; ++c) {
        const float* HWY_RESTRICT column = a + support[c] * m;
        const V factor = hn::Set(d, x[support[c]]);
        for (std::size_t i = 0; i < m; i += kLanes)
            hn::Store(hn::MulAdd(hn::LoadU(d, column + i), factor, hn::Load(d, p + i)), d, p + i);
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
            total = hn::Add(total, step.Finish(signals[s], part.m, i,
                                               hn::Load(d, signals[s].p1 + i)));
        signals[s].total = SumLanes(total);
    }
}

using ResidualsFunction = void (*)(const PackedPart&, const PackedLayer&, Signal*);

template <bool kPlain, std::size_t kSignals, std::size_t... kVectors>
ResidualsFunction ResidualsOf(std::size_t m, std::index_sequence<kVectors...>) {
    static constexpr ResidualsFunction functions[] = {
        &NextResiduals<kPlain, kSignals, kVectors + 1>...};
    const std::size_t vectors = (m + kLanes - 1) / kLanes;
    return vectors <= sizeof...(kVectors) ? functions[vectors - 1]
                                          : &StreamResiduals<kPlain, kSignals>;
}

template <bool kPlain, Activation kActivation, std::size_t kSignals>
struct Layers {
    /// x of this layer, over the one before last, and its support. What stands behind entry n - 1
    /// is never in it, whatever it is.
    static HWY_NOINLINE void NextEntries(const PackedPart& part, const PackedLayer& layer,
                                         const float* scales, Signal* signals) {
        const D d;
        const std::size_t n = part.n;
        const V delta = hn::Set(d, part.delta);
        const V beta = hn::Set(d, layer.beta);
        V scale = hn::Set(d, layer.scale);
        V tau[kSignals];
        const float* HWY_RESTRICT x1[kSignals];
        float* HWY_RESTRICT x2[kSignals];
        const float* HWY_RESTRICT q[kSignals];
        std::array<SupportWriter<D>, kSignals> support = Supports(signals);
        for (std::size_t s = 0; s < kSignals; ++s) {
            tau[s] = hn::Set(d, part.residual_threshold ? layer.theta * signals[s].total
                                                        : layer.theta);
            x1[s] = signals[s].x1;
            x2[s] = signals[s].x2;
            q[s] = signals[s].q;
        }
        for (std::size_t j = 0; j < n; j += kLanes) {
            if (scales != nullptr) scale = hn::Load(d, scales + j);
            for (std::size_t s = 0; s < kSignals; ++s) {
                const V z = Input<kPlain>(hn::Load(d, x1[s] + j), hn::Load(d, x2[s] + j),
                                          hn::Load(d, q[s] + j), delta, beta, scale);
                const V x = Activate<kActivation>(z, tau[s]);
                hn::Store(x, d, x2[s] + j);
                auto alive = hn::Ne(x, hn::Zero(d));
                if (j + kLanes > n) alive = hn::And(alive, hn::FirstN(d, n - j));
                support[s].Add(j, alive);
            }
        }
        for (std::size_t s = 0; s < kSignals; ++s) {
            signals[s].count = support[s].Finish();
            std::swap(signals[s].x1, signals[s].x2);
        }
    }

    static HWY_INLINE std::array<SupportWriter<D>, kSignals> Supports(const Signal* signals) {
        if constexpr (kSignals == 1)
            return {SupportWriter<D>(signals[0].support)};
        else
            return {SupportWriter<D>(signals[0].support), SupportWriter<D>(signals[1].support)};
    }

    /// Takes the memory of one signal from `at` on.
    static Signal Open(const PackedPart& part, const float* y, float*& at) {
        const std::size_t rows = part.padded_rows(kLayout);
        const std::size_t cols = part.stride;
        Signal s{};
        s.y = at;
        s.p1 = s.y + rows;
        s.p2 = s.p1 + rows;
        s.r = s.p2 + rows;
        s.x1 = s.r + rows;
        s.x2 = s.x1 + cols;
        s.q = s.x2 + cols;
        s.support = reinterpret_cast<std::uint32_t*>(s.q + cols);
        at = s.q + 2 * cols + kLanes;
        std::fill(s.y, s.q, 0.0F);
        std::copy_n(y, part.m, s.y);
        return s;
    }

    static void Solve(const RecoverArgs& args, std::size_t row) {
        const PackedPart& part = args.part;
        const SignProduct<kSignals> product(part);
        const ResidualsFunction residuals =
            ResidualsOf<kPlain, kSignals>(part.m, std::make_index_sequence<kRegisterVectors>());
        float* at = args.workspace;
        Signal signals[kSignals];
        for (std::size_t i = 0; i < kSignals; ++i)
            signals[i] = Open(part, args.y + (row + i) * args.y_stride, at);
        for (std::size_t k = 0; k < part.layers.size(); ++k) {
            const PackedLayer& layer = part.layers[k];
            residuals(part, layer, signals);
            product(part, part.layer_signs(k), signals);
            NextEntries(part, layer, part.layer_scales(k), signals);
            for (std::size_t i = 0; i < kSignals; ++i) {
                Signal& s = signals[i];
                std::swap(s.p1, s.p2);
                if (args.every_layer != nullptr)
                    std::copy_n(s.x1, part.n, args.every_layer + k * args.layer_stride +
                                                  (row + i) * args.x_stride);
            }
        }
        for (std::size_t i = 0; i < kSignals; ++i)
            std::copy_n(signals[i].x1, part.n, args.x + (row + i) * args.x_stride);
    }
};

template <bool kPlain, Activation kActivation>
void SolveRows(const RecoverArgs& args) {
    std::size_t row = 0;
    for (; row + 2 <= args.rows; row += 2) Layers<kPlain, kActivation, 2>::Solve(args, row);
    if (row < args.rows) Layers<kPlain, kActivation, 1>::Solve(args, row);
}

void RecoverVectors(const RecoverArgs& args) {
    const PackedPart& part = args.part;
    switch (part.activation) {
        case Activation::soft:
            return part.plain ? SolveRows<true, Activation::soft>(args)
                              : SolveRows<false, Activation::soft>(args);
        case Activation::hard:
            return part.plain ? SolveRows<true, Activation::hard>(args)
                              : SolveRows<false, Activation::hard>(args);
        case Activation::relu:
            return part.plain ? SolveRows<true, Activation::relu>(args)
                              : SolveRows<false, Activation::relu>(args);
    }
}

RecoverKernel VectorKernel() { return &RecoverVectors; }

#else

RecoverKernel VectorKernel() { return nullptr; }

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn {

HWY_EXPORT(VectorKernel);

RecoverKernel vector_kernel(std::int64_t target) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return HWY_DISPATCH_TABLE(VectorKernel)[chosen.GetIndex()]();
}

}  // namespace pibinn
#endif
