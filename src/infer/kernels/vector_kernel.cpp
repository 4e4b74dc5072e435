#include <algorithm>

#include "infer/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "infer/kernels/vector_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "infer/kernels/choose_network-inl.hpp"
#include "infer/kernels/float_tables-inl.hpp"
#include "infer/kernels/residual-inl.hpp"
#include "infer/kernels/short_tables-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

/// All layers for up to kTurns signals at a time; Layers makes x from r.
template <bool kPlain, Activation kActivation, class Layers, PlacesFunction kList>
class VectorSolver {
public:
    explicit VectorSolver(const RecoverArgs& args)
        : args_(args),
          next_(args.part),
          residual_(ResidualOf<kPlain>(args.part)),
          floats_(vector_signal_floats(args.part, kLayout)) {
        const PackedPart& part = args.part;
        float* shared = args.workspace + kTurns * floats_;
        float* lists = shared + part.stride + part.padded_rows(kLayout);
        for (std::size_t i = 0; i < std::min(kTurns, args.rows); ++i) {
            turns_[0][i] = Signal(part, args.workspace + i * floats_, shared);
            thresholds_.Share(i, turns_[0][i]);
            turns_[1][i] = turns_[0][i].Later();
            supports_[i] = Support(part, kList, lists + i * vector_support_floats(part));
        }
    }

    void Solve(std::size_t first, std::size_t count) {
        const PackedPart& part = args_.part;
        const std::size_t depth = part.layers.size();
        for (std::size_t i = 0; i < count; ++i)
            turns_[0][i].Begin(part, args_.y + (first + i) * args_.y_stride, floats_);
        for (std::size_t k = 0; k < depth; ++k) {
            const PackedLayer& layer = part.layers[k];
            const Signal* signals = turns_[k % 2];
            if (layer.rescales()) [[unlikely]]
                for (std::size_t i = 0; i < count; ++i) signals[i].Rescale(part, layer.rescaled);
            residual_(part, layer, supports_, signals, count);
            if (part.residual_threshold && count > 1)
                thresholds_.template Find<kActivation>(layer.theta, count);
            if (layer.mixes()) [[unlikely]]
                for (std::size_t i = 0; i < count; ++i)
                    MixEntries(D(), layer, part.stride, signals[i].x1, signals[i].x2);
            next_(part, k, part.layer_signs(k), signals, count);
            if (args_.every_layer != nullptr)
                Write(k + 1, args_.every_layer + k * args_.layer_stride, first, count);
        }
        Write(depth, args_.x, first, count);
    }

private:
    /// x after k layers.
    void Write(std::size_t k, float* x, std::size_t first, std::size_t count) const {
        const float unit = args_.part.layers[k - 1].unit;
        for (std::size_t i = 0; i < count; ++i)
            WriteEntries<kPlain>(turns_[k % 2][i].x1, unit, args_.part.n,
                                 x + (first + i) * args_.x_stride);
    }

    const RecoverArgs& args_;
    Layers next_;
    ResidualFunction residual_;
    std::size_t floats_;
    ResidualThresholds thresholds_;
    Signal turns_[2][kTurns];  ///< in layers of even numbers, and in those of odd ones
    Support supports_[kTurns];
};

template <template <bool, Activation> class Layers, PlacesFunction kList>
struct VectorRows {
    template <bool kPlain, Activation kActivation>
    struct Of {
        static void Run(const RecoverArgs& args) {
            VectorSolver<kPlain, kActivation, Layers<kPlain, kActivation>, kList> solver(args);
            for (std::size_t row = 0; row < args.rows; row += kTurns)
                solver.Solve(row, std::min(kTurns, args.rows - row));
        }
    };
};

template <PlacesFunction kList>
VectorKernels KernelsWith() {
    VectorKernels kernels;
    kernels.floats = &Recover<VectorRows<FloatLayers, kList>::template Of>;
#if HWY_TARGET <= HWY_AVX3
    kernels.shorts = &Recover<VectorRows<ShortLayers, kList>::template Of>;
#endif
    return kernels;
}

VectorKernels FindVectorKernels() {
#if HWY_TARGET <= HWY_AVX3
    if ((hwy::SupportedTargets() & HWY_AVX3_DL) != 0) return KernelsWith<nullptr>();
    return KernelsWith<&CompressWords>();
#else
    return KernelsWith<&CountBits>();
#endif
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
