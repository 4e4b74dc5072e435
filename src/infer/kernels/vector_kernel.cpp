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

/// All layers for up to kTurns signals; Layers makes x from r.
template <bool kPlain, Activation kActivation, class Layers, PlacesFunction kList>
void SolveRows(const RecoverArgs& args, std::size_t first, std::size_t count) {
    const PackedPart& part = args.part;
    const Layers next(part);
    const ResidualFunction residual = ResidualOf<kPlain>(part);
    const std::size_t floats = vector_signal_floats(part, kLayout);
    float* shared = args.workspace + kTurns * floats;
    float* lists = shared + part.stride + part.padded_rows(kLayout);
    ResidualThresholds thresholds;
    Signal signals[kTurns];
    Support supports[kTurns];
    for (std::size_t i = 0; i < count; ++i) {
        signals[i] =
            Signal(part, args.y + (first + i) * args.y_stride, args.workspace + i * floats, shared);
        thresholds.Share(i, signals[i]);
        supports[i] = Support(part, kList, lists + i * vector_support_floats(part));
    }
    for (std::size_t k = 0; k < part.layers.size(); ++k) {
        const PackedLayer& layer = part.layers[k];
        residual(part, layer, supports, signals, count);
        if (part.residual_threshold && count > 1) thresholds.Find<kActivation>(layer.theta, count);
        next(part, k, part.layer_signs(k), signals, count);
        if (args.every_layer == nullptr) continue;
        for (std::size_t i = 0; i < count; ++i)
            std::copy_n(signals[i].x1, part.n,
                        args.every_layer + k * args.layer_stride + (first + i) * args.x_stride);
    }
    for (std::size_t i = 0; i < count; ++i)
        std::copy_n(signals[i].x1, part.n, args.x + (first + i) * args.x_stride);
}

template <template <bool, Activation> class Layers, PlacesFunction kList>
struct VectorRows {
    template <bool kPlain, Activation kActivation>
    struct Of {
        static void Run(const RecoverArgs& args) {
            for (std::size_t row = 0; row < args.rows; row += kTurns)
                SolveRows<kPlain, kActivation, Layers<kPlain, kActivation>, kList>(
                    args, row, std::min(kTurns, args.rows - row));
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
    if ((hwy::SupportedTargets() & HWY_AVX3_DL) != 0) return KernelsWith<&CompressBytes>();
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
