#include <algorithm>
#include <array>
#include <utility>

#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/vector_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "infer/kernels/choose_network-inl.hpp"
#include "infer/kernels/float_tables-inl.hpp"
#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/residual-inl.hpp"
#include "infer/kernels/short_tables-inl.hpp"
#include "infer/kernels/support_writer-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

// Two signals share the words and their shifts where 32 registers hold the tables of both.
constexpr bool kPairs = HWY_TARGET <= HWY_AVX3;

/// All layers for one signal or a pair; Product makes B^T r.
template <bool kPlain, Activation kActivation, std::size_t kSignals,
          template <std::size_t> class Product>
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
            tau[s] =
                hn::Set(d, part.residual_threshold ? layer.theta * signals[s].total : layer.theta);
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
        const Product<kSignals> product(part);
        const ResidualsFunction residuals =
            ResidualsOf<kPlain, kSignals>(part, std::make_index_sequence<kRegisterLines>());
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
                    std::copy_n(
                        s.x1, part.n,
                        args.every_layer + k * args.layer_stride + (row + i) * args.x_stride);
            }
        }
        for (std::size_t i = 0; i < kSignals; ++i)
            std::copy_n(signals[i].x1, part.n, args.x + (row + i) * args.x_stride);
    }
};

template <bool kPlain, Activation kActivation>
struct FloatRows {
    static void Run(const RecoverArgs& args) {
        std::size_t row = 0;
        if constexpr (kPairs)
            for (; row + 2 <= args.rows; row += 2)
                Layers<kPlain, kActivation, 2, FloatProduct>::Solve(args, row);
        for (; row < args.rows; ++row)
            Layers<kPlain, kActivation, 1, FloatProduct>::Solve(args, row);
    }
};

#if HWY_TARGET <= HWY_AVX3
template <bool kPlain, Activation kActivation>
struct ShortRows {
    static void Run(const RecoverArgs& args) {
        for (std::size_t row = 0; row < args.rows; ++row)
            Layers<kPlain, kActivation, 1, ShortProduct>::Solve(args, row);
    }
};
#endif

VectorKernels FindVectorKernels() {
    VectorKernels found;
    found.floats = &Recover<FloatRows>;
#if HWY_TARGET <= HWY_AVX3
    found.shorts = &Recover<ShortRows>;
#endif
    return found;
}

#else

VectorKernels FindVectorKernels() { return {}; }

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn {

HWY_EXPORT(FindVectorKernels);

VectorKernels vector_kernels(std::int64_t target) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return HWY_DISPATCH_TABLE(FindVectorKernels)[chosen.GetIndex()]();
}

}  // namespace pibinn
#endif
