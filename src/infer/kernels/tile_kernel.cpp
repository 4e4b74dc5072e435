#include <algorithm>
#include <utility>

#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/tile_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "infer/kernels/choose_network-inl.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/support_writer-inl.hpp"
#include "infer/kernels/tile_products-inl.hpp"
#include "infer/kernels/transpose-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// kWidth signals side by side through all layers.
template <std::size_t kWidth, bool kPlain, Activation kActivation>
struct TileLayers {
    using T = Tile<kWidth>;
    using D = typename T::D;
    using V = typename T::V;
    static constexpr std::size_t kLanes = T::kLanes;

    static void ReadMeasurements(const RecoverArgs& args, const TileSpace& s) {
        const PackedPart& part = args.part;
        const std::size_t rows = part.padded_rows(kLayout);
        std::fill_n(s.y, rows * kWidth, 0.0F);
        CopySideBySide<kWidth>(args.y, args.y_stride, args.rows, part.m, s.y);
        T::PairRows(part, s.y);
        std::copy_n(s.y, rows * kWidth, s.e1);
        if (kWidth > 1 && part.full()) TurnBack(s.y, kWidth, rows, s.y_by_signal, rows);
    }

    static void WriteEntries(const RecoverArgs& args, const float* x, float unit, float* to) {
        if constexpr (kWidth == 1) {
            pibinn::HWY_NAMESPACE::WriteEntries<kPlain>(x, unit, args.part.n, to);
            return;
        }
        TurnBack(x, args.rows, args.part.n, to, args.x_stride);
        if constexpr (kPlain) return;
        for (std::size_t i = 0; i < args.rows; ++i)
            for (std::size_t j = 0; j < args.part.n; ++j) to[i * args.x_stride + j] *= unit;
    }

    static HWY_NOINLINE void NextResidual(const TileSpace& s, std::size_t rows,
                                          const PackedLayer& layer) {
        const D d;
        const float* HWY_RESTRICT e1 = s.e1;
        const float* HWY_RESTRICT e2 = s.e2;
        float* HWY_RESTRICT r = s.r;
        const V back = hn::Set(d, layer.back);
        for (std::size_t v = 0; v < kWidth; v += kLanes) {
            const V omega = hn::Mul(hn::Set(d, layer.omega), hn::Load(d, s.counts + v));
            for (std::size_t i = v; i < rows * kWidth; i += kWidth) {
                const V misfit = hn::Load(d, e1 + i);
                const V residual =
                    kPlain ? misfit
                           : Residual(misfit, hn::Load(d, e2 + i), hn::Load(d, r + i), back, omega);
                hn::Store(residual, d, r + i);
            }
        }
    }

    static void Rescale(const TileSpace& s, const PackedPart& part, float factor) {
        for (float* rows : {s.e1, s.e2, s.r})
            for (std::size_t i = 0; i < part.held() * kWidth; ++i) rows[i] *= factor;
        for (float* columns : {s.x1, s.x2})
            for (std::size_t i = 0; i < part.n * kWidth; ++i) columns[i] *= factor;
    }

    /// The threshold of every signal.
    static HWY_NOINLINE void Thresholds(const TileSpace& s, const PackedPart& part,
                                        const PackedLayer& layer) {
        const D d;
        constexpr std::size_t kSums = kLayout.partial_sums;
        for (std::size_t v = 0; v < kWidth; v += kLanes) {
            V tau = hn::Set(d, layer.theta);
            if (part.residual_threshold) {
                V sums[kSums];
                for (std::size_t l = 0; l < kSums; ++l) sums[l] = T::SumSizes(part, s.r + v, l);
                for (std::size_t half = kSums / 2; half > 0; half /= 2)
                    for (std::size_t l = 0; l < half; ++l)
                        sums[l] = hn::Add(sums[l], sums[l + half]);
                tau = ResidualThreshold<kActivation>(hn::Mul(tau, sums[0]));
            }
            hn::Store(tau, d, s.tau + v);
        }
    }

    /// x of this layer, over the one before last; its support, and how large each signal's is.
    static HWY_NOINLINE void NextEntries(TileSpace& s, const PackedPart& part,
                                         const PackedLayer& layer, const float* scales) {
        const D d;
        const V before = hn::Set(d, layer.before);
        const V one = hn::Set(d, 1.0F);
        const std::size_t n = part.n;
        const float* HWY_RESTRICT x1 = s.x1;
        float* HWY_RESTRICT x2 = s.x2;
        const float* HWY_RESTRICT q = s.q;
        V scale = hn::Set(d, layer.scale);
        V tau[T::kVectors];
        V count[T::kVectors];
        for (std::size_t v = 0; v < T::kVectors; ++v) {
            tau[v] = hn::Load(d, s.tau + v * kLanes);
            count[v] = hn::Zero(d);
        }
        SupportWriter<D> support(s.support);
        for (std::size_t j = 0; j < n; ++j) {
            if (scales != nullptr) scale = hn::Set(d, scales[j]);
            for (std::size_t v = 0; v < T::kVectors; ++v) {
                const std::size_t at = j * kWidth + v * kLanes;
                const V z = LayerInput<kPlain>(hn::Load(d, x1 + at), hn::Load(d, x2 + at),
                                               hn::Load(d, q + at), before, scale);
                const Activated<V> next = Activate<kActivation>(z, tau[v]);
                hn::Store(next.x, d, x2 + at);
                if constexpr (!kPlain)
                    count[v] = hn::Add(count[v], hn::IfThenElseZero(next.alive, one));
                support.Add(at, next.alive);
            }
        }
        for (std::size_t v = 0; v < T::kVectors; ++v) hn::Store(count[v], d, s.counts + v * kLanes);
        s.support_count = support.Finish();
    }

    static void Run(const RecoverArgs& args) {
        const PackedPart& part = args.part;
        TileSpace s(part, kLayout, kWidth, args.workspace);
        const std::size_t rows = part.padded_rows(kLayout);
        ReadMeasurements(args, s);
        std::fill_n(s.e2, rows * kWidth, 0.0F);
        std::fill_n(s.r, rows * kWidth, 0.0F);
        std::fill_n(s.x1, part.n * kWidth, 0.0F);
        std::fill_n(s.x2, part.n * kWidth, 0.0F);
        std::fill_n(s.counts, kWidth, 0.0F);
        for (std::size_t k = 0; k < part.layers.size(); ++k) {
            const PackedLayer& layer = part.layers[k];
            if (k > 0) {
                if (layer.rescales()) Rescale(s, part, layer.rescaled);
                std::swap(s.e1, s.e2);
                if (part.full())
                    T::Measure(part, layer.given, s);
                else
                    T::MeasureLinks(part, layer.given, s);
            }
            NextResidual(s, part.held(), layer);
            Thresholds(s, part, layer);
            if (part.full())
                T::TableProduct(part, part.layer_signs(k), s);
            else
                T::LinkProduct(part, part.layer_signs(k), s);
            if (layer.mixes()) MixEntries(D(), layer, part.n * kWidth, s.x1, s.x2);
            NextEntries(s, part, layer, part.layer_scales(k));
            std::swap(s.x1, s.x2);
            if (args.every_layer != nullptr)
                WriteEntries(args, s.x1, layer.unit, args.every_layer + k * args.layer_stride);
        }
        WriteEntries(args, s.x1, part.layers.back().unit, args.x);
    }
};

template <bool kPlain, Activation kActivation>
using SixteenRows = TileLayers<kTile, kPlain, kActivation>;
template <bool kPlain, Activation kActivation>
using OneRow = TileLayers<1, kPlain, kActivation>;

KernelSet TileKernels() {
    return {kLayout, kShortLayout, {}, &Recover<SixteenRows>, &Recover<OneRow>};
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
    set.vector = vector_kernels(target);
    return set;
}

}  // namespace pibinn
#endif
