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

#if PIBINN_VECTOR_KERNEL

/// x of a layer, one vector after the other, over x2: in a plain network that is x1.
template <bool kPlain, Activation kActivation>
struct EntryStep {
    V prev_x_factor, scale, tau;
    const float* x1;
    float* x2;
    std::uint8_t* alive;

    EntryStep(const PackedBlock& block, const PackedLayer& layer, const Signal& signal)
        : prev_x_factor(hn::Set(D(), layer.prev_x_factor)),
          scale(hn::Set(D(), layer.scale)),
          tau(hn::Set(D(), *(block.residual_threshold ? signal.tau : &layer.theta))),
          x1(signal.x1),
          x2(kPlain ? signal.x1 : signal.x2),
          alive(signal.alive) {}

    template <class DN>
    HWY_INLINE void Finish(DN d, std::size_t j, hn::Vec<DN> q) {
        using VN = hn::Vec<DN>;
        const VN last = hn::Load(d, x1 + j);
        const VN z = LayerInput<kPlain>(last, kPlain ? last : hn::Load(d, x2 + j), q,
                                        FirstLanes(d, prev_x_factor), FirstLanes(d, scale));
        const Activated<VN> next = Activate<kActivation>(z, FirstLanes(d, tau));
        hn::Store(next.x, d, x2 + j);
        StoreAlive(d, j, next.alive);
    }

private:
    template <class DN>
    HWY_INLINE void StoreAlive(DN d, std::size_t j, hn::Mask<DN> bits) {
        if constexpr (kLanes >= 8) {
            hn::StoreMaskBits(d, bits, alive);
            alive += kLanes / 8;
        } else {  // two vectors share a byte
            std::uint8_t half[8];
            hn::StoreMaskBits(d, bits, half);
            std::uint8_t& byte = alive[j / 8];
            byte = static_cast<std::uint8_t>(j % 8 == 0 ? half[0] : byte | half[0] << 4);
        }
    }
};

/// x of layer k from q.
template <bool kPlain, Activation kActivation>
HWY_NOINLINE void FinishLayer(const PackedBlock& block, std::size_t k, const Signal& signal) {
    const float* scales = block.layer_scales(k);
    EntryStep<kPlain, kActivation> step(block, block.layers[k], signal);
    for (std::size_t j = 0; j < block.stride; j += kLanes) {
        if (scales != nullptr) step.scale = hn::Load(D(), scales + j);
        step.Finish(D(), j, hn::Load(D(), signal.q + j));
    }
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
