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

/// All layers for up to kInterleave signals at a time, or for all rows of a larger group, a few in
/// turn in each layer.
template <bool kPlain, Shrink kShrink, IndexLister kLister>
class VectorSolver {
public:
    explicit VectorSolver(const RecoverArgs& args)
        : args_(args),
          next_(args.block),
          residual_(ResidualOf<kPlain>(args.block)),
          floats_(vector_signal_floats(args.block, kLayout)) {
        const PackedBlock& block = args.block;
        const std::size_t together = std::max(kInterleave, rows_together(block));
        float* shared = args.workspace + together * floats_;
        float* lists =
            shared + block.stride + block.padded_rows(kLayout) + sign_column_floats(block);
        for (std::size_t i = 0; i < std::min(together, args.rows); ++i) {
            signals_[0][i] = Signal(block, args.workspace + i * floats_, shared);
            thresholds_[i / kInterleave].Share(i % kInterleave, signals_[0][i]);
            signals_[1][i] = signals_[0][i].Later();
            supports_[i] = Support(block, kLister, lists + i * vector_support_floats(block));
        }
        site_space_ = lists + together * vector_support_floats(block);
    }

    void Solve(std::size_t first, std::size_t count) {
        const PackedBlock& block = args_.block;
        const std::size_t depth = block.layers.size();
        for (std::size_t i = 0; i < count; ++i)
            signals_[0][i].Begin(block, args_.y + (first + i) * args_.y_stride, floats_);
        for (std::size_t k = 0; k < depth; ++k) {
            if constexpr (kShrink.sites) {
                for (std::size_t turn = 0; turn * kInterleave < count; ++turn)
                    Layer(k, turn, std::min(kInterleave, count - turn * kInterleave));
                ShrinkSites<kPlain>(block, k, signals_[k % 2], count, site_space_);
            } else {
                Layer(k, 0, count);
            }
            if (args_.every_layer != nullptr)
                Write(k + 1, args_.every_layer + k * args_.layer_stride, first, count);
        }
        Write(depth, args_.x, first, count);
    }

private:
    static constexpr std::size_t kTurns =
        kShrink.sites ? (kMostGroupRows + kInterleave - 1) / kInterleave : 1;

    /// Layer k of the signals from turn * kInterleave on.
    HWY_INLINE void Layer(std::size_t k, std::size_t turn, std::size_t count) {
        const PackedBlock& block = args_.block;
        const PackedLayer& layer = block.layers[k];
        const Signal* signals = signals_[k % 2] + turn * kInterleave;
        if (layer.rescales()) [[unlikely]]
            for (std::size_t i = 0; i < count; ++i) signals[i].Rescale(block, layer.rescale);
        residual_(block, layer, supports_ + turn * kInterleave, signals, count);
        if (block.residual_threshold && count > 1)
            thresholds_[turn].template Find<kShrink.activation>(layer.theta, count);
        if constexpr (kShrink.learned() && !kShrink.few && !kShrink.sites)
            for (std::size_t i = 0; i < count; ++i)
                ScaleShrink<1>(block, k, block.residual_threshold ? signals[i].tau : &layer.theta,
                               signals[i].shrink);
        if (layer.mixes()) [[unlikely]]
            for (std::size_t i = 0; i < count; ++i)
                MixEntries(D(), layer, block.stride, signals[i].x1, signals[i].x2);
        next_(block, k, block.layer_signs(k), signals, count);
    }

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
    ResidualThresholds thresholds_[kTurns];
    /// In layers of even numbers, and in those of odd ones.
    Signal signals_[2][kTurns * kInterleave];
    Support supports_[kTurns * kInterleave];
    float* site_space_;
};

template <IndexLister kLister>
struct VectorRows {
    template <bool kPlain, Shrink kShrink>
    struct Of {
        static void Run(const RecoverArgs& args) {
            VectorSolver<kPlain, kShrink, kLister> solver(args);
            // Groups stay together.
            const std::size_t step = rows_together(args.block);
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
