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

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// All layers for up to kInterleave signals at a time.
template <bool kPlain, Shrink kShrink, IndexLister kLister>
class VectorSolver {
public:
    explicit VectorSolver(const RecoverArgs& args)
        : args_(args),
          next_(args.block),
          residual_(ResidualOf<kPlain>(args.block)),
          floats_(vector_signal_floats(args.block, kLayout)) {
        const PackedBlock& block = args.block;
        float* shared = args.workspace + kInterleave * floats_;
        float* lists =
            shared + block.stride + block.padded_rows(kLayout) + sign_column_floats(block);
        for (std::size_t i = 0; i < std::min(kInterleave, args.rows); ++i) {
            signals_[0][i] = Signal(block, args.workspace + i * floats_, shared);
            thresholds_.Share(i, signals_[0][i]);
            signals_[1][i] = signals_[0][i].Later();
            supports_[i] = Support(block, kLister, lists + i * vector_support_floats(block));
        }
        site_space_ = lists + kInterleave * vector_support_floats(block);
    }

    void Solve(std::size_t first, std::size_t count) {
        const PackedBlock& block = args_.block;
        const std::size_t depth = block.layers.size();
        for (std::size_t i = 0; i < count; ++i)
            signals_[0][i].Begin(block, args_.y + (first + i) * args_.y_stride, floats_);
        for (std::size_t k = 0; k < depth; ++k) {
            const PackedLayer& layer = block.layers[k];
            const Signal* signals = signals_[k % 2];
            if (layer.rescales()) [[unlikely]]
                for (std::size_t i = 0; i < count; ++i) signals[i].Rescale(block, layer.rescale);
            residual_(block, layer, supports_, signals, count);
            if (block.residual_threshold && count > 1)
                thresholds_.template Find<kShrink.activation>(layer.theta, count);
            if constexpr (kShrink.learned() && !kShrink.few && !kShrink.sites)
                for (std::size_t i = 0; i < count; ++i)
                    ScaleShrink<1>(block, k,
                                   block.residual_threshold ? signals[i].tau : &layer.theta,
                                   signals[i].shrink);
            if (layer.mixes()) [[unlikely]]
                for (std::size_t i = 0; i < count; ++i)
                    MixEntries(D(), layer, block.stride, signals[i].x1, signals[i].x2);
            next_(block, k, block.layer_signs(k), signals, count);
            if constexpr (kShrink.sites) ShrinkSites<kPlain>(block, k, signals, count, site_space_);
            if (args_.every_layer != nullptr)
                Write(k + 1, args_.every_layer + k * args_.layer_stride, first, count);
        }
        Write(depth, args_.x, first, count);
    }

private:
    /// x after k layers.
    void Write(std::size_t k, float* x, std::size_t first, std::size_t count) const {
        const float x_unit = args_.block.layers[k - 1].x_unit;
        for (std::size_t i = 0; i < count; ++i)
            WriteEntries<kPlain>(signals_[k % 2][i].x1, x_unit, args_.block.n,
                                 x + (first + i) * args_.x_stride);
    }

    const RecoverArgs& args_;
    FloatLayers<kPlain, kShrink> next_;  ///< x from r
    ResidualFunction residual_;
    std::size_t floats_;
    ResidualThresholds thresholds_;
    Signal signals_[2][kInterleave];  ///< in layers of even numbers, and in those of odd ones
    Support supports_[kInterleave];
    float* site_space_;
};

template <IndexLister kLister>
struct VectorRows {
    template <bool kPlain, Shrink kShrink>
    struct Of {
        static void Run(const RecoverArgs& args) {
            VectorSolver<kPlain, kShrink, kLister> solver(args);
            // Groups stay together.
            const std::size_t group = args.block.sites.grouping.rows;
            const std::size_t step = kInterleave / group * group;
            for (std::size_t row = 0; row < args.rows; row += step)
                solver.Solve(row, std::min(step, args.rows - row));
        }
    };
};

RecoverKernel FindVectorKernel() {
    if constexpr (!kCompressesLanes)
        return &Recover<true, VectorRows<IndexLister::scan>::template Of>;
    return FindIndexLister() == IndexLister::compress
               ? &Recover<true, VectorRows<IndexLister::compress>::template Of>
               : &Recover<true, VectorRows<IndexLister::by_sixteen>::template Of>;
}

#else

RecoverKernel FindVectorKernel() { return nullptr; }

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn {

HWY_EXPORT(FindVectorKernel);

RecoverKernel vector_kernel(std::int64_t target) {
    hwy::ChosenTarget chosen;
    chosen.Update(target);
    return HWY_DISPATCH_TABLE(FindVectorKernel)[chosen.GetIndex()]();
}

}  // namespace pibinn
#endif
