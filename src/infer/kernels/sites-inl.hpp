// Activations that look at groups and neighbours. Included once for every target.

#if defined(PIBINN_INFER_SITES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SITES_INL
#undef PIBINN_INFER_SITES_INL
#else
#define PIBINN_INFER_SITES_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "infer/kernels/entries-inl.hpp"
#include "infer/kernels/signal-inl.hpp"
#include "infer/kernels/site_gains-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

#if PIBINN_VECTOR_KERNEL

/// z of layer k from q, in the place of x: where columns have scales of their own, or two planes.
template <bool kPlain>
HWY_NOINLINE void StoreInputs(const PackedBlock& block, std::size_t k, const Signal& signal) {
    const float* scales = block.layer_scales(k);
    EntryStep<kPlain, Shrink{Activation::soft}> step(block, block.layers[k], signal);
    for (std::size_t j = 0; j < block.n; j += kLanes) {
        if (scales != nullptr) step.scale = hn::Load(D(), scales + j);
        hn::Store(step.Input(D(), j, hn::Load(D(), signal.q + j)), D(), step.x2 + j);
    }
}

/// The rows of one group, from z in the place of x to x: one gain per site, as in
/// algebra/cpu/site_shrink.hpp.
template <bool kPlain>
class SiteStep {
public:
    SiteStep(const PackedBlock& block, std::size_t k, const Signal* signals, float* space)
        : block_(block),
          k_(k),
          layer_(block.layers[k]),
          signals_(signals),
          rows_(block.sites.grouping.rows),
          count_(block.site_count()),
          energy_(space),
          size_(space + block.stride),
          gain_(space + 2 * block.stride) {}

    HWY_INLINE void Run() {
        ShareThreshold();
        Energies();
        const float slopes = block_.activation == Activation::wiener ? Wiener() : Shrink();
        for (std::size_t e = 0; e < rows_; ++e) {
            *signals_[e].slopes = slopes / static_cast<float>(rows_);
            Expand(signals_[e]);
        }
    }

private:
    /// One mean of |r| for all rows.
    HWY_INLINE void ShareThreshold() {
        if (!block_.residual_threshold) return;
        float tau = 0;
        for (std::size_t e = 0; e < rows_; ++e) tau += *signals_[e].tau;
        tau_ = tau / static_cast<float>(rows_);
        *signals_[0].tau = tau_;
    }

    float Members() const { return static_cast<float>(block_.sites.grouping.size()); }
    static float* Entries(const Signal& signal) { return kPlain ? signal.x1 : signal.x2; }

    /// Sites from i on; zeros where there are no more.
    HWY_INLINE V Sites(std::size_t i, V v) const {
        return i + kLanes <= count_ ? v : hn::IfThenElseZero(hn::FirstN(D(), count_ - i), v);
    }

    HWY_INLINE void Energies() {
        const D d;
        for (std::size_t i = 0; i < count_; i += kLanes) {
            V sum = hn::Zero(d);
            for (std::size_t e = 0; e < rows_; ++e)
                for (std::size_t h = 0; h < block_.sites.grouping.halves; ++h) {
                    const V z = hn::LoadU(d, Entries(signals_[e]) + h * count_ + i);
                    sum = hn::MulAdd(z, z, sum);
                }
            sum = Sites(i, sum);
            hn::Store(sum, d, energy_ + i);
            hn::Store(sum, d, size_ + i);
        }
    }

    HWY_INLINE float Shrink() {
        const D d;
        AddRings<1>(block_, k_, energy_, size_);
        ScaleShrink<1>(block_, k_, block_.residual_threshold ? signals_[0].tau : &layer_.theta,
                       signals_[0].shrink);
        const EntryNumbers<pibinn::Shrink{Activation::piecewise}> numbers(block_, layer_,
                                                                          signals_[0]);
        V slopes = hn::Zero(d);
        for (std::size_t i = 0; i < count_; i += kLanes) {
            const SiteGain<V> site =
                ShrinkGain(hn::Load(d, energy_ + i), hn::Load(d, size_ + i), Members(), numbers);
            hn::Store(Sites(i, site.gain), d, gain_ + i);
            slopes = hn::Add(slopes, Sites(i, site.slopes));
        }
        return SumLanes(slopes);
    }

    HWY_INLINE float Wiener() {
        const D d;
        const WienerSite wiener(block_, k_);
        const V tau = hn::Set(d, block_.residual_threshold ? tau_ : layer_.theta);
        const auto prior = [&](std::size_t i)
                               HWY_ATTR { return hn::Load(d, block_.prior.data() + i); };
        for (std::size_t i = 0; i < count_; i += kLanes) {
            const V seen = Sites(i, wiener.Seen(hn::Load(d, energy_ + i), prior(i), tau));
            hn::Store(seen, d, energy_ + i);
            hn::Store(wiener.Own(seen), d, size_ + i);
        }
        AddRings<1>(block_, k_, energy_, size_);
        V sum = hn::Zero(d);
        for (std::size_t i = 0; i < count_; i += kLanes) {
            const V gain = Sites(i, wiener.Gain(hn::Load(d, size_ + i), prior(i), tau));
            hn::Store(gain, d, gain_ + i);
            sum = hn::Add(sum, gain);
        }
        return Members() * SumLanes(sum);
    }

    /// x = gain z, and which entries are not zero.
    HWY_INLINE void Expand(const Signal& signal) const {
        const D d;
        float* const x = Entries(signal);
        for (std::size_t h = 0; h < block_.sites.grouping.halves; ++h) {
            float* const to = x + h * count_;
            std::size_t i = 0;
            for (; i + kLanes <= count_; i += kLanes)
                hn::StoreU(hn::Mul(hn::Load(d, gain_ + i), hn::LoadU(d, to + i)), d, to + i);
            for (; i < count_; ++i) to[i] *= gain_[i];
        }
        std::uint64_t pending = 0;
        for (std::size_t j = 0; j < block_.n; j += kLanes) {
            const auto alive = hn::Ne(hn::Load(d, x + j), hn::Zero(d));
            pending = (j % 64 == 0 ? 0 : pending) | MaskBits(d, alive) << j % 64;
            std::memcpy(signal.alive + j / 64 * 8, &pending, sizeof pending);
        }
    }

    const PackedBlock& block_;
    std::size_t k_;
    const PackedLayer& layer_;
    const Signal* signals_;
    std::size_t rows_, count_;
    float *energy_, *size_, *gain_;
    float tau_ = 0;
};

/// All groups of some signals.
template <bool kPlain>
HWY_NOINLINE void ShrinkSites(const PackedBlock& block, std::size_t k, const Signal* signals,
                              std::size_t count, float* space) {
    for (std::size_t i = 0; i < count; i += block.sites.grouping.rows)
        SiteStep<kPlain>(block, k, signals + i, space).Run();
}

#endif

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
