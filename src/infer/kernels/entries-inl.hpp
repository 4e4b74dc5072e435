// From B^T r to the entries of x. Included once for every target.

#if defined(PIBINN_INFER_ENTRIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_ENTRIES_INL
#undef PIBINN_INFER_ENTRIES_INL
#else
#define PIBINN_INFER_ENTRIES_INL
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if HWY_TARGET <= HWY_AVX2

/// x of a layer, one vector after the other, over x2: in a plain network that is x1.
template <bool kPlain, Activation kActivation>
struct EntryStep {
    V before, scale, tau;
    const float* x1;
    float* x2;
    std::uint8_t* alive;

    EntryStep(const PackedPart& part, const PackedLayer& layer, const Signal& signal)
        : before(hn::Set(D(), layer.before)),
          scale(hn::Set(D(), layer.scale)),
          tau(hn::Set(D(), *(part.residual_threshold ? signal.tau : &layer.theta))),
          x1(signal.x1),
          x2(kPlain ? signal.x1 : signal.x2),
          alive(signal.alive) {}

    template <class DN>
    HWY_INLINE void Finish(DN d, std::size_t j, hn::Vec<DN> q) {
        using VN = hn::Vec<DN>;
        const VN last = hn::Load(d, x1 + j);
        const VN z = LayerInput<kPlain>(last, kPlain ? last : hn::Load(d, x2 + j), q,
                                        FirstLanes(d, before), FirstLanes(d, scale));
        const Activated<VN> next = Activate<kActivation>(z, FirstLanes(d, tau));
        hn::Store(next.x, d, x2 + j);
        hn::StoreMaskBits(d, next.alive, alive);
        alive += kLanes / 8;
    }
};

/// x of layer k from q.
template <bool kPlain, Activation kActivation>
HWY_NOINLINE void FinishLayer(const PackedPart& part, std::size_t k, const Signal& signal) {
    const float* scales = part.layer_scales(k);
    EntryStep<kPlain, kActivation> step(part, part.layers[k], signal);
    for (std::size_t j = 0; j < part.stride; j += kLanes) {
        if (scales != nullptr) step.scale = hn::Load(D(), scales + j);
        step.Finish(D(), j, hn::Load(D(), signal.q + j));
    }
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
