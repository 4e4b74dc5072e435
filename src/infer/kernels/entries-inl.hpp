// From B^T r to the entries of x. Included once for every target.

#if defined(PIBINN_INFER_ENTRIES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_ENTRIES_INL
#undef PIBINN_INFER_ENTRIES_INL
#else
#define PIBINN_INFER_ENTRIES_INL
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "infer/kernels/layer_math-inl.hpp"
#include "infer/kernels/signal-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// What the activation of one signal needs.
template <Shrink kShrink>
struct EntryNumbers {
    V tau;
    V slopes, offsets;           ///< of few pieces, all of them in every four lanes
    V thresholds[Shrink::kFew];  ///< of few pieces
    const float* shrink;
    std::size_t pieces, stride;

    HWY_INLINE EntryNumbers(const PackedBlock& block, const PackedLayer& layer,
                            const Signal& signal)
        : tau(hn::Set(D(), *(block.residual_threshold ? signal.tau : &layer.theta))),
          shrink(signal.shrink),
          pieces(block.pieces),
          stride(kShrink.few ? Shrink::kFew : PieceStride(pieces)) {
        if constexpr (kShrink.few) {
            // Scaled here, as ScaleShrink does it: by way of memory it took longer.
            const float* from =
                block.layer_shrink(static_cast<std::size_t>(&layer - block.layers.data()));
            offsets = hn::Mul(hn::LoadDup128(D(), from + stride), tau);
            slopes = hn::LoadDup128(D(), from + 2 * stride);
            const V scaled = ScaledThreshold(hn::LoadDup128(D(), from), tau);
            thresholds[0] = hn::Broadcast<0>(scaled);
            thresholds[1] = hn::Broadcast<1>(scaled);
            thresholds[2] = hn::Broadcast<2>(scaled);
            thresholds[3] = hn::Broadcast<3>(scaled);
        }
    }

    template <class DN>
    HWY_INLINE hn::Vec<DN> Tau(DN d) const {
        return FirstLanes(d, tau);
    }
    template <class DN>
    HWY_INLINE hn::Vec<DN> Threshold(DN d, std::size_t j) const {
        if constexpr (kShrink.few)
            return FirstLanes(d, thresholds[j]);
        else
            return hn::Set(d, shrink[j]);
    }
    template <class DN>
    HWY_INLINE hn::Vec<DN> Offset(DN d, std::size_t j) const {
        return hn::Set(d, shrink[stride + j]);
    }
    template <class DN>
    HWY_INLINE hn::Vec<DN> Slope(DN d, std::size_t j) const {
        return hn::Set(d, shrink[2 * stride + j]);
    }
    template <class DN>
    HWY_INLINE hn::Vec<DN> Offsets(DN d) const {
        return FirstLanes(d, offsets);
    }
    template <class DN>
    HWY_INLINE hn::Vec<DN> Slopes(DN d) const {
        return FirstLanes(d, slopes);
    }
    template <class VN>
    HWY_INLINE PieceLine<VN> LineOf(VN size) const {
        if constexpr (kShrink.few)
            return FewLine(size, *this);
        else
            return LastLine(size, *this);
    }
};

/// x of a layer, one vector after the other, over x2: in a plain network that is x1.
template <bool kPlain, Shrink kShrink>
struct EntryStep {
    static constexpr bool kSumsSlopes = kShrink.learned() && !kPlain;

    V prev_x_factor, scale;
    EntryNumbers<kShrink> numbers;
    V slopes = hn::Zero(D());
    const float* x1;
    float* x2;
    std::uint8_t* alive;
    std::uint64_t pending = 0;  ///< bits of the last columns

    EntryStep(const PackedBlock& block, const PackedLayer& layer, const Signal& signal)
        : prev_x_factor(hn::Set(D(), layer.prev_x_factor)),
          scale(hn::Set(D(), layer.scale)),
          numbers(block, layer, signal),
          x1(signal.x1),
          x2(kPlain ? signal.x1 : signal.x2),
          alive(signal.alive) {}

    /// What the activation takes, for the columns from j on.
    template <class DN>
    HWY_INLINE hn::Vec<DN> Input(DN d, std::size_t j, hn::Vec<DN> q) const {
        const hn::Vec<DN> last = hn::Load(d, x1 + j);
        return LayerInput<kPlain>(last, kPlain ? last : hn::Load(d, x2 + j), q,
                                  FirstLanes(d, prev_x_factor), FirstLanes(d, scale));
    }
    template <class DN>
    HWY_INLINE void Finish(DN d, std::size_t j, hn::Vec<DN> z) {
        const Shrunk<hn::Vec<DN>> shrunk = Store(d, j, z);
        if constexpr (kSumsSlopes) slopes = AddWhere(shrunk.next.alive, slopes, shrunk.slope);
    }
    /// The same, but returns which of them are alive instead of storing it.
    template <class DN>
    HWY_INLINE std::uint64_t FinishBits(DN d, std::size_t j, hn::Vec<DN> z) {
        const Shrunk<hn::Vec<DN>> shrunk = Activate<kShrink>(z, numbers);
        hn::Store(shrunk.next.x, d, x2 + j);
        if constexpr (kSumsSlopes) slopes = AddWhere(shrunk.next.alive, slopes, shrunk.slope);
        return MaskBits(d, shrunk.next.alive);
    }
    /// The last vector, of which `left` lanes are columns.
    template <class DN>
    HWY_INLINE void FinishLast(DN d, std::size_t j, hn::Vec<DN> z, std::size_t left,
                               const Signal& signal) {
        const Shrunk<hn::Vec<DN>> shrunk = Store(d, j, z);
        if constexpr (kSumsSlopes) {
            const auto counts = hn::And(shrunk.next.alive, hn::FirstN(d, left));
            const auto last = hn::IfThenElseZero(counts, shrunk.slope);
            *signal.slopes = SumLanes(hn::Add(slopes, ZeroExtended(last)));
        }
    }

private:
    template <class DN>
    HWY_INLINE Shrunk<hn::Vec<DN>> Store(DN d, std::size_t j, hn::Vec<DN> z) {
        const Shrunk<hn::Vec<DN>> shrunk = Activate<kShrink>(z, numbers);
        hn::Store(shrunk.next.x, d, x2 + j);
        StoreAlive(d, j, shrunk.next.alive);
        return shrunk;
    }

    /// By 64 columns, as they are read: a read across shorter writes that are still under way would
    /// wait for them.
    template <class DN>
    HWY_INLINE void StoreAlive(DN d, std::size_t j, hn::Mask<DN> bits) {
        pending = (j % 64 == 0 ? 0 : pending) | MaskBits(d, bits) << j % 64;
        std::memcpy(alive + j / 64 * 8, &pending, sizeof pending);
    }
};

/// x of layer k from q.
template <bool kPlain, Shrink kShrink>
HWY_NOINLINE void FinishLayer(const PackedBlock& block, std::size_t k, const Signal& signal) {
    const float* scales = block.layer_scales(k);
    EntryStep<kPlain, kShrink> step(block, block.layers[k], signal);
    const auto take_scale = [&](std::size_t j) HWY_ATTR {
        if (scales != nullptr) step.scale = hn::Load(D(), scales + j);
    };
    std::size_t j = 0;
    for (; j + kLanes < block.n; j += kLanes) {
        take_scale(j);
        step.Finish(D(), j, step.Input(D(), j, hn::Load(D(), signal.q + j)));
    }
    take_scale(j);
    step.FinishLast(D(), j, step.Input(D(), j, hn::Load(D(), signal.q + j)), block.n - j, signal);
}

/// x of a layer from the inputs of the activation, which stand in its place.
template <bool kPlain, Shrink kShrink>
HWY_NOINLINE void ShrinkInputs(const PackedBlock& block, const PackedLayer& layer,
                               const Signal& signal) {
    EntryStep<kPlain, kShrink> step(block, layer, signal);
    const auto input = [&](auto d, std::size_t j) HWY_ATTR {
        auto z = hn::Load(d, step.x2 + j);
        HoldInRegister(z);  // g++ 12 read it three times
        return z;
    };
    const std::size_t n = block.n;  // read once: for all that g++ knows, a store might change it
    std::size_t j = 0;
    // Their bits are stored once: a store for every vector took 1 % of a batch of 50 x 100.
    for (; j + 64 < n; j += 64) {
        std::uint64_t bits = 0;
        ForEach<64 / kLanes>([&](auto v) HWY_ATTR {
            const std::size_t at = j + v * kLanes;
            bits |= step.FinishBits(D(), at, input(D(), at)) << (v * kLanes);
        });
        std::memcpy(step.alive + j / 8, &bits, sizeof bits);
    }
    for (; j + kLanes < n; j += kLanes) step.Finish(D(), j, input(D(), j));
    using Short = hn::Half<D>;
    if (n - j <= kLanes / 2)
        step.FinishLast(Short(), j, input(Short(), j), n - j, signal);
    else
        step.FinishLast(D(), j, input(D(), j), n - j, signal);
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
