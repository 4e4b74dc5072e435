// Activations that look at groups and neighbours, of signals side by side. Included once for every
// target.

#if defined(PIBINN_INFER_TILE_SITES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_TILE_SITES_INL
#undef PIBINN_INFER_TILE_SITES_INL
#else
#define PIBINN_INFER_TILE_SITES_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "infer/kernels/site_gains-inl.hpp"
#include "infer/kernels/support_writer-inl.hpp"
#include "infer/kernels/tile_workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// x of one layer from q, over the one before last: groups of one row, entry by entry or both
/// halves together. `Layers` is the TileLayers at hand.
///
/// A place is a number of the tile. The sites of a half stand at as many places as its entries;
/// where lanes are the sites of one signal, the last vector reaches beyond them.
template <class Layers>
class TileSites {
public:
    TileSites(const TileWorkspace& s, const PackedBlock& block, std::size_t k)
        : s_(s),
          block_(block),
          layer_(block.layers[k]),
          k_(k),
          scales_(block.layer_scales(k)),
          places_(block.site_count() * kWidth) {}

    /// The support is written, too, and its size returned. Slopes are left in their partial sums.
    HWY_INLINE std::size_t Run() {
        if (block_.sites.grouping.halves == 2)
            ByActivation<2>();
        else
            ByActivation<1>();
        return Support();
    }

private:
    static constexpr std::size_t kWidth = Layers::kSignals;
    static constexpr bool kPlain = Layers::kIsPlain;
    using E = typename Layers::E;
    using EV = typename Layers::EV;
    using Numbers = typename Layers::Numbers;
    static constexpr std::size_t kELanes = hn::MaxLanes(E());

    template <std::size_t kHalves>
    HWY_INLINE void ByActivation() const {
        if (block_.activation == Activation::wiener) {
            FindEnergies<kHalves, true>();
            AddRings<kWidth>(block_, k_, s_.energies, s_.sizes);
            ShrinkAll<kHalves, true>();
        } else if (block_.sites.near.rings > 0) {
            FindEnergies<kHalves, false>();
            AddRings<kWidth>(block_, k_, s_.energies, s_.sizes);
            ShrinkAll<kHalves, false>();
        } else {
            ShrinkApart<kHalves>();
        }
    }

    Numbers NumbersAt(std::size_t at) const { return {s_, block_.pieces, at % kWidth}; }
    float Members() const { return static_cast<float>(block_.sites.grouping.size()); }

    /// A number per site that all signals share.
    HWY_INLINE EV OfSite(const float* numbers, std::size_t at) const {
        return kWidth == 1 ? hn::Load(E(), numbers + at) : hn::Set(E(), numbers[at / kWidth]);
    }

    bool Whole(std::size_t at) const { return kWidth > 1 || at + kELanes <= places_; }
    hn::Mask<E> Left(std::size_t at) const { return hn::FirstN(E(), places_ - at); }
    /// Zeros where there are no more sites.
    HWY_INLINE EV OfSites(std::size_t at, EV v) const {
        return Whole(at) ? v : hn::IfThenElseZero(Left(at), v);
    }
    /// Of one half, without touching what stands behind it.
    HWY_INLINE void StoreHalf(EV v, std::size_t at, float* to) const {
        if (Whole(at))
            hn::StoreU(v, E(), to + at);
        else
            hn::BlendedStore(v, Left(at), E(), to + at);
    }

    /// What the activation takes, at one place.
    HWY_INLINE EV Input(std::size_t at) const {
        const E d;
        EV scale = hn::Set(d, layer_.scale);
        if (scales_ != nullptr)
            scale = kWidth == 1 ? hn::LoadU(d, scales_ + at) : hn::Set(d, scales_[at / kWidth]);
        return LayerInput<kPlain>(hn::LoadU(d, s_.x1 + at), hn::LoadU(d, s_.x2 + at),
                                  hn::LoadU(d, s_.q + at), hn::Set(d, layer_.prev_x_factor), scale);
    }
    /// The inputs of both halves, and their energy.
    template <std::size_t kHalves>
    HWY_INLINE EV Inputs(std::size_t at, EV (&z)[kHalves]) const {
        EV energy = hn::Zero(E());
        for (std::size_t h = 0; h < kHalves; ++h) {
            z[h] = Input(h * places_ + at);
            energy = hn::MulAdd(z[h], z[h], energy);
        }
        return OfSites(at, energy);
    }

    HWY_INLINE void AddSlopes(std::size_t at, EV slopes) const {
        if constexpr (!kPlain) {
            float* sum = s_.slopes + at / kWidth % kLayout.partial_sums * kWidth + at % kWidth;
            hn::Store(hn::Add(hn::Load(E(), sum), slopes), E(), sum);
        }
    }

    /// Without neighbours: inputs do not go through memory.
    template <std::size_t kHalves>
    HWY_NOINLINE void ShrinkApart() const {
        for (std::size_t at = 0; at < places_; at += kELanes) {
            EV z[kHalves];
            const EV energy = Inputs(at, z);
            const SiteGain<EV> site = ShrinkGain(energy, energy, Members(), NumbersAt(at));
            AddSlopes(at, OfSites(at, site.slopes));
            for (std::size_t h = 0; h < kHalves; ++h)
                StoreHalf(hn::Mul(site.gain, z[h]), at, s_.x2 + h * places_);
        }
    }

    /// Inputs in the place of x, the energy of each site, and what its size begins with.
    template <std::size_t kHalves, bool kWiener>
    HWY_NOINLINE void FindEnergies() const {
        [[maybe_unused]] const WienerSite wiener(block_, k_);
        for (std::size_t at = 0; at < places_; at += kELanes) {
            EV z[kHalves];
            EV energy = Inputs(at, z);
            for (std::size_t h = 0; h < kHalves; ++h) StoreHalf(z[h], at, s_.x2 + h * places_);
            EV size = energy;
            if constexpr (kWiener) {
                energy =
                    wiener.Seen(energy, OfSite(block_.prior.data(), at), NumbersAt(at).Tau(E()));
                size = wiener.Own(energy);
            }
            hn::Store(energy, E(), s_.energies + at);
            hn::Store(size, E(), s_.sizes + at);
        }
    }

    /// x from the inputs in its place.
    template <std::size_t kHalves, bool kWiener>
    HWY_NOINLINE void ShrinkAll() const {
        [[maybe_unused]] const WienerSite wiener(block_, k_);
        for (std::size_t at = 0; at < places_; at += kELanes) {
            const EV size = hn::Load(E(), s_.sizes + at);
            SiteGain<EV> site;
            if constexpr (kWiener) {
                site.gain =
                    wiener.Gain(size, OfSite(block_.prior.data(), at), NumbersAt(at).Tau(E()));
                site.slopes = site.gain;  // times the members of a group, once for all
            } else {
                site = ShrinkGain(hn::Load(E(), s_.energies + at), size, Members(), NumbersAt(at));
            }
            AddSlopes(at, OfSites(at, site.slopes));
            for (std::size_t h = 0; h < kHalves; ++h) {
                float* const x = s_.x2 + h * places_;
                StoreHalf(hn::Mul(site.gain, hn::LoadU(E(), x + at)), at, x);
            }
        }
    }

    /// A second walk: the second half's places come behind all of the first's.
    HWY_NOINLINE std::size_t Support() const {
        const E d;
        SupportWriter<E> support(s_.support);
        const std::size_t count = block_.n * kWidth;
        for (std::size_t at = 0; at < count; at += kELanes) {
            auto alive = hn::Ne(hn::Load(d, s_.x2 + at), hn::Zero(d));
            if (kWidth == 1 && at + kELanes > count)
                alive = hn::And(alive, hn::FirstN(d, count - at));
            support.Add(at, alive);
        }
        return support.Finish();
    }

    const TileWorkspace& s_;
    const PackedBlock& block_;
    const PackedLayer& layer_;
    std::size_t k_;
    const float* scales_;
    std::size_t places_;
};

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
