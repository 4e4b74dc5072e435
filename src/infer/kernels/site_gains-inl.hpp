// What sites are multiplied by, for vectors of any length: their lanes are sites, or signals. Both
// kernels use it, so that both round alike. Included once for every target.

#if defined(PIBINN_INFER_SITE_GAINS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef PIBINN_INFER_SITE_GAINS_INL
#undef PIBINN_INFER_SITE_GAINS_INL
#else
#define PIBINN_INFER_SITE_GAINS_INL
#endif

#include <cstddef>

#include <hwy/highway.h>

#include "algebra/ring_sum.hpp"
#include "infer/kernels/layer_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace pibinn::HWY_NAMESPACE {

/// As in algebra/cpu/site_kernels.cpp: keeps a division by the energy of an empty site finite.
constexpr float kTinyEnergy = 1e-30F;

/// The gain of a site, and its slopes summed over the entries of its group.
template <class V>
struct SiteGain {
    V gain, slopes;
};

/// Of thresholds and a learned shrink. `size` is the energy of the group itself, and with
/// neighbours a share of theirs.
template <class V, class Numbers>
HWY_INLINE SiteGain<V> ShrinkGain(V energy, V size, float members, const Numbers& numbers) {
    const hn::DFromV<V> d;
    size = hn::Max(size, hn::Set(d, kTinyEnergy));
    const V u = hn::Sqrt(size);
    const auto alive = Beyond(u, numbers.Threshold(d, 0));
    const PieceLine<V> line = LastLine(u, numbers);
    const V gain = hn::IfThenElseZero(alive, hn::Add(line.slope, hn::Div(line.offset, u)));
    const V slope = hn::IfThenElseZero(alive, line.slope);
    const V share = hn::Div(energy, size);
    return {gain, hn::MulAdd(hn::Set(d, members), gain, hn::Mul(share, hn::Sub(slope, gain)))};
}

/// `wiener`, in two steps with the rings between them. Variances are in the unit in which a kernel
/// holds x.
struct WienerSite {
    float members, x_unit;
    const float* local;  ///< a floor, then the factor of what is seen at the site itself

    WienerSite(const PackedBlock& block, std::size_t k)
        : members(static_cast<float>(block.sites.grouping.size())),
          x_unit(block.layers[k].x_unit),
          local(block.layer_local(k)) {}

    template <class V>
    HWY_INLINE V Variance(V prior) const {
        return hn::Mul(hn::Set(hn::DFromV<V>(), 1 / (x_unit * x_unit)), prior);
    }
    /// The energy of a site beside what is expected of it.
    template <class V>
    HWY_INLINE V Seen(V energy, V prior, V tau) const {
        const hn::DFromV<V> d;
        const V expected =
            hn::Mul(hn::Set(d, members), hn::Add(Variance(prior), hn::Mul(tau, tau)));
        return hn::Div(energy, hn::Max(expected, hn::Set(d, kTinyEnergy)));
    }
    /// Seen at the site itself, to which the rings are added.
    template <class V>
    HWY_INLINE V Own(V seen) const {
        return hn::Mul(hn::Set(hn::DFromV<V>(), local[1]), seen);
    }
    template <class V>
    HWY_INLINE V Gain(V seen, V prior, V tau) const {
        const hn::DFromV<V> d;
        const V energy = hn::Mul(Variance(prior), hn::Add(hn::Set(d, local[0]), seen));
        const V noise = hn::Mul(tau, tau);
        return hn::Div(energy, hn::Add(hn::Add(energy, noise), hn::Set(d, kTinyEnergy)));
    }
};

/// What each ring of layer k adds of `from` to `to`, for sites of kWidth numbers that stand
/// side by side.
template <std::size_t kWidth>
HWY_NOINLINE void AddRings(const PackedBlock& block, std::size_t k, const float* HWY_RESTRICT from,
                           float* HWY_RESTRICT to) {
    const hn::CappedTag<float, 16> wide;
    const hn::CappedTag<float, 1> one;
    constexpr std::size_t lanes = hn::MaxLanes(wide);
    const Neighbourhood& near = block.sites.near;
    const float* factors = block.layer_local(k) + (block.activation == Activation::wiener ? 2 : 0);
    for (std::size_t ring = 1; ring <= near.rings; ++ring) {
        const float factor = factors[ring - 1];
        const auto add = [=](auto d, std::size_t at, std::size_t seen) HWY_ATTR {
            hn::StoreU(
                hn::MulAdd(hn::Set(d, factor), hn::LoadU(d, from + seen), hn::LoadU(d, to + at)), d,
                to + at);
        };
        for_each_ring_run(near, ring, block.site_count(),
                          [=](std::size_t here, std::size_t there, std::size_t sites) HWY_ATTR {
                              const std::size_t count = sites * kWidth;
                              std::size_t j = 0;
                              for (; j + lanes <= count; j += lanes)
                                  add(wide, here * kWidth + j, there * kWidth + j);
                              for (; j < count; ++j)
                                  add(one, here * kWidth + j, there * kWidth + j);
                          });
    }
}

}  // namespace pibinn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
