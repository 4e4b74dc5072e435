#include <algorithm>
#include <type_traits>
#include <utility>

#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/tile_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "algebra/centre.hpp"
#include "algebra/cpu/transpose-inl.hpp"
#include "infer/kernels/choose_network-inl.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/support_writer-inl.hpp"
#include "infer/kernels/tile_measure-inl.hpp"
#include "infer/kernels/tile_sites-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// kWidth signals side by side through all layers.
template <std::size_t kWidth, bool kPlain, Shrink kShrink>
struct TileLayers {
    using T = Tile<kWidth>;
    using D = typename T::D;
    using V = typename T::V;
    static constexpr std::size_t kSignals = kWidth;
    static constexpr bool kIsPlain = kPlain;
    static constexpr std::size_t kLanes = T::kLanes;
    /// Lanes of what is done number by number: signals, or the numbers of one signal.
    using E = std::conditional_t<kWidth == 1, typename T::Wide, D>;
    using EV = hn::Vec<E>;
    static constexpr std::size_t kELanes = hn::MaxLanes(E());
    static constexpr bool kSumsSlopes = kShrink.learned() && !kPlain;

    /// As the vector kernel adds up its lanes.
    static HWY_INLINE V SumPartials(V (&sums)[kLayout.partial_sums]) {
        for (std::size_t half = kLayout.partial_sums / 2; half > 0; half /= 2)
            for (std::size_t l = 0; l < half; ++l) sums[l] = hn::Add(sums[l], sums[l + half]);
        return sums[0];
    }

    /// With the mean of each row as it is given, so that both kernels take the same one off.
    static HWY_NOINLINE void CentreMeasurements(const RecoverArgs& args, float* y) {
        for (std::size_t i = 0; i < args.rows; ++i) {
            const float mean = centre_of({args.y + i * args.y_stride, args.block.m});
            for (std::size_t row = 0; row < args.block.m; ++row) y[row * kWidth + i] -= mean;
        }
    }

    /// e1 of a mask less its mean, whose columns cannot be stored so. One order of additions for
    /// any number of signals side by side.
    static HWY_NOINLINE void CentreMisfit(std::size_t m, float* e1) {
        const D d;
        constexpr std::size_t chains = 4;
        const V share = hn::Set(d, 1.0F / static_cast<float>(m));
        for (std::size_t v = 0; v < kWidth; v += kLanes) {
            V sums[chains] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
            for (std::size_t i = 0; i < m; ++i)
                sums[i % chains] = hn::Add(sums[i % chains], hn::Load(d, e1 + i * kWidth + v));
            const V all = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
            const V mean = hn::Mul(share, all);
            for (std::size_t i = 0; i < m; ++i) {
                float* at = e1 + i * kWidth + v;
                hn::Store(hn::Sub(hn::Load(d, at), mean), d, at);
            }
        }
    }

    static void ReadMeasurements(const RecoverArgs& args, const TileWorkspace& s) {
        const PackedBlock& block = args.block;
        const std::size_t rows = block.padded_rows(kLayout);
        std::fill_n(s.y, rows * kWidth, 0.0F);
        if constexpr (kWidth == 1)
            std::copy_n(args.y, block.m, s.y);
        else
            cpu::HWY_NAMESPACE::Transpose(args.rows, block.m, args.y, args.y_stride, s.y, kWidth);
        if (block.centre) CentreMeasurements(args, s.y);
        T::MakeButterflies(block, s.y);
        std::copy_n(s.y, rows * kWidth, s.e1);
        if constexpr (kWidth == kTile)
            if (block.full())
                cpu::HWY_NAMESPACE::Transpose(rows, kWidth, s.y, kWidth, s.y_by_signal, rows);
    }

    static void WriteEntries(const RecoverArgs& args, const float* x, float x_unit, float* to) {
        if constexpr (kWidth == 1) {
            pibinn::HWY_NAMESPACE::WriteEntries<kPlain>(x, x_unit, args.block.n, to);
            return;
        }
        cpu::HWY_NAMESPACE::Transpose(args.block.n, args.rows, x, kWidth, to, args.x_stride);
        if constexpr (kPlain) return;
        for (std::size_t i = 0; i < args.rows; ++i)
            for (std::size_t j = 0; j < args.block.n; ++j) to[i * args.x_stride + j] *= x_unit;
    }

    static HWY_NOINLINE void NextResidual(const TileWorkspace& s, std::size_t rows,
                                          const PackedLayer& layer) {
        const E d;
        const float* HWY_RESTRICT e1 = s.e1;
        const float* HWY_RESTRICT e2 = s.e2;
        float* HWY_RESTRICT r = s.r;
        const EV prev_residual_factor = hn::Set(d, layer.prev_residual_factor);
        constexpr std::size_t step = kWidth == 1 ? kELanes : kWidth;
        const std::size_t count = rows * kWidth;
        for (std::size_t v = 0; v < kWidth; v += kELanes) {
            const EV counts = kWidth == 1 ? hn::Set(d, *s.counts) : hn::Load(d, s.counts + v);
            const EV omega = hn::Mul(hn::Set(d, layer.omega), counts);
            for (std::size_t i = v; i < count; i += step) {
                const EV misfit = hn::Load(d, e1 + i);
                EV residual = kPlain ? misfit
                                     : Residual(misfit, hn::Load(d, e2 + i), hn::Load(d, r + i),
                                                prev_residual_factor, omega);
                if constexpr (kWidth == 1)  // what stands behind the rows stays zero
                    if (i + kELanes > count)
                        residual = hn::IfThenElseZero(hn::FirstN(d, count - i), residual);
                hn::Store(residual, d, r + i);
            }
        }
    }

    static void Rescale(const TileWorkspace& s, const PackedBlock& block, float factor) {
        for (float* rows : {s.e1, s.e2, s.r})
            for (std::size_t i = 0; i < block.stored_rows() * kWidth; ++i) rows[i] *= factor;
        for (float* columns : {s.x1, s.x2})
            for (std::size_t i = 0; i < block.n * kWidth; ++i) columns[i] *= factor;
    }

    /// All partial sums of |r| of one signal of a mask, whose rows are no butterflies.
    static HWY_INLINE void SumAbsOfOne(const PackedBlock& block, const TileWorkspace& s, V* sums) {
        EV total = hn::Zero(E());
        for (std::size_t i = 0; i < block.m; i += kELanes)
            total = hn::Add(total, hn::Abs(hn::Load(E(), s.r + i)));
        alignas(64) float lanes[kELanes];
        hn::Store(total, E(), lanes);
        for (std::size_t l = 0; l < kELanes; ++l) sums[l] = hn::Set(D(), lanes[l]);
    }

    /// The threshold of every signal.
    static HWY_NOINLINE void Thresholds(const TileWorkspace& s, const PackedBlock& block,
                                        std::size_t k) {
        const D d;
        const PackedLayer& layer = block.layers[k];
        constexpr std::size_t kSums = kLayout.partial_sums;
        for (std::size_t v = 0; v < kWidth; v += kLanes) {
            V tau = hn::Set(d, layer.theta);
            if (block.residual_threshold) {
                V sums[kSums];
                if (kWidth == 1 && kELanes == kSums && !block.full())
                    SumAbsOfOne(block, s, sums);
                else
                    for (std::size_t l = 0; l < kSums; ++l) sums[l] = T::SumAbs(block, s.r + v, l);
                tau = ResidualThreshold(kShrink.activation, hn::Mul(tau, SumPartials(sums)));
            }
            hn::Store(tau, d, s.tau + v);
        }
        if constexpr (kShrink.learned()) ScaleShrink<kWidth>(block, k, s.tau, s.shrink);
    }

    /// What the activation of the signals in vector `at` needs.
    struct Numbers {
        const TileWorkspace& s;
        std::size_t pieces, at;

        /// One per signal.
        HWY_INLINE EV Read(E d, const float* from) const {
            return kWidth == 1 ? hn::Set(d, *from) : hn::Load(d, from + at);
        }
        HWY_INLINE EV Tau(E d) const { return Read(d, s.tau); }
        HWY_INLINE EV Piece(E d, std::size_t which, std::size_t j) const {
            return Read(d, s.shrink + (which * PieceStride(pieces) + j) * kWidth);
        }
        HWY_INLINE EV Threshold(E d, std::size_t j) const { return Piece(d, 0, j); }
        HWY_INLINE EV Offset(E d, std::size_t j) const { return Piece(d, 1, j); }
        HWY_INLINE EV Slope(E d, std::size_t j) const { return Piece(d, 2, j); }
        HWY_INLINE PieceLine<EV> LineOf(EV size) const { return LastLine(size, *this); }
    };

    /// x of this layer, over the one before last; its support, and how large each signal's is, or
    /// the sum of its slopes.
    static HWY_NOINLINE void NextEntries(TileWorkspace& s, const PackedBlock& block,
                                         const PackedLayer& layer, const float* scales) {
        const E d;
        const EV prev_x_factor = hn::Set(d, layer.prev_x_factor);
        const EV one = hn::Set(d, 1.0F);
        const std::size_t count = block.n * kWidth;
        const float* HWY_RESTRICT x1 = s.x1;
        float* HWY_RESTRICT x2 = s.x2;
        const float* HWY_RESTRICT q = s.q;
        EV scale = hn::Set(d, layer.scale);
        std::fill_n(s.counts, kWidth, 0.0F);
        if constexpr (kSumsSlopes) std::fill_n(s.slopes, kLayout.partial_sums * kWidth, 0.0F);
        SupportWriter<E> support(s.support);
        for (std::size_t at = 0; at < count; at += kELanes) {
            const std::size_t j = at / kWidth;
            const std::size_t v = at % kWidth;
            if (scales != nullptr)
                scale = kWidth == 1 ? hn::Load(d, scales + j) : hn::Set(d, scales[j]);
            const EV z = LayerInput<kPlain>(hn::Load(d, x1 + at), hn::Load(d, x2 + at),
                                            hn::Load(d, q + at), prev_x_factor, scale);
            const Shrunk<EV> shrunk = Activate<kShrink>(z, Numbers{s, block.pieces, v});
            hn::Store(shrunk.next.x, d, x2 + at);
            auto alive = shrunk.next.alive;
            if constexpr (kWidth == 1)
                if (at + kELanes > count) alive = hn::And(alive, hn::FirstN(d, count - at));
            if constexpr (kSumsSlopes) {
                float* sum = s.slopes + j % kLayout.partial_sums * kWidth + v;
                hn::Store(AddWhere(alive, hn::Load(d, sum), shrunk.slope), d, sum);
            } else if constexpr (!kPlain && kWidth > 1) {
                hn::Store(AddWhere(alive, hn::Load(d, s.counts + v), one), d, s.counts + v);
            }
            support.Add(at, alive);
        }
        s.support_count = support.Finish();
        if constexpr (kSumsSlopes)
            SumSlopes(s, 1);
        else if constexpr (kWidth == 1)
            *s.counts = static_cast<float>(static_cast<std::int32_t>(s.support_count));
    }

    static HWY_INLINE void SumSlopes(const TileWorkspace& s, float factor) {
        for (std::size_t v = 0; v < kWidth; v += kLanes) {
            V sums[kLayout.partial_sums];
            for (std::size_t l = 0; l < kLayout.partial_sums; ++l)
                sums[l] = hn::Load(D(), s.slopes + l * kWidth + v);
            hn::Store(hn::Mul(hn::Set(D(), factor), SumPartials(sums)), D(), s.counts + v);
        }
    }

    /// The same by sites.
    static HWY_INLINE void NextSites(TileWorkspace& s, const PackedBlock& block, std::size_t k) {
        if constexpr (kSumsSlopes) std::fill_n(s.slopes, kLayout.partial_sums * kWidth, 0.0F);
        s.support_count = TileSites<TileLayers>(s, block, k).Run();
        if constexpr (kSumsSlopes)
            SumSlopes(s, block.activation == Activation::wiener
                             ? static_cast<float>(block.sites.grouping.size())
                             : 1);
    }

    static HWY_INLINE void Measure(const TileWorkspace& s, const PackedBlock& block,
                                   const PackedLayer& layer) {
        if constexpr (kWidth <= kTile)
            if (block.full()) return T::Measure(block, layer.y_factor, s);
        T::MeasureLinks(block, layer.y_factor, s);
        if (block.centre) CentreMisfit(block.m, s.e1);
    }
    static HWY_INLINE void Product(const TileWorkspace& s, const PackedBlock& block,
                                   std::size_t k) {
        if constexpr (kWidth <= kTile)
            if (block.full()) return T::TableProduct(block, block.layer_signs(k), s);
        T::LinkProduct(block, k, s);
    }

    static void Run(const RecoverArgs& args) {
        const PackedBlock& block = args.block;
        TileWorkspace s(block, kLayout, kWidth, args.workspace);
        const std::size_t rows = block.padded_rows(kLayout);
        ReadMeasurements(args, s);
        std::fill_n(s.e2, rows * kWidth, 0.0F);
        std::fill_n(s.r, rows * kWidth, 0.0F);
        std::fill_n(s.x1, block.n * kWidth, 0.0F);
        std::fill_n(s.x2, block.n * kWidth, 0.0F);
        std::fill_n(s.counts, kWidth, 0.0F);
        for (std::size_t k = 0; k < block.layers.size(); ++k) {
            const PackedLayer& layer = block.layers[k];
            if (k > 0) {
                if (layer.rescales()) Rescale(s, block, layer.rescale);
                std::swap(s.e1, s.e2);
                Measure(s, block, layer);
            }
            NextResidual(s, block.stored_rows(), layer);
            Thresholds(s, block, k);
            Product(s, block, k);
            if (layer.mixes()) MixEntries(D(), layer, block.n * kWidth, s.x1, s.x2);
            if constexpr (kShrink.sites)
                NextSites(s, block, k);
            else
                NextEntries(s, block, layer, block.layer_scales(k));
            std::swap(s.x1, s.x2);
            if (args.every_layer != nullptr)
                WriteEntries(args, s.x1, layer.x_unit, args.every_layer + k * args.layer_stride);
        }
        WriteEntries(args, s.x1, block.layers.back().x_unit, args.x);
    }
};

template <bool kPlain, Shrink kShrink>
using SixteenRows = TileLayers<kTile, kPlain, kShrink>;
template <bool kPlain, Shrink kShrink>
using OneRow = TileLayers<1, kPlain, kShrink>;

template <bool kPlain, Shrink kShrink>
using MaskRows = TileLayers<kMaskTile, kPlain, kShrink>;

KernelSet TileKernels() {
    KernelSet set;
    set.layout = kLayout;
    set.tile = &Recover<false, SixteenRows>;
    set.mask_tile = &Recover<false, MaskRows>;
    set.single = &Recover<false, OneRow>;
    return set;
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn {

HWY_EXPORT(TileKernels);

KernelSet kernel_set(std::int64_t target) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    KernelSet set = HWY_DISPATCH_TABLE(TileKernels)[chosen.GetIndex()]();
    set.vector = vector_kernel(target);
    set.polish = polish_kernel(target);
    return set;
}

}  // namespace pibinn
#endif
