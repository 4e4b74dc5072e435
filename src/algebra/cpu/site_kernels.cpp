#include "algebra/cpu/site_kernels.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "algebra/cpu/site_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pibinn::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kPad>;
using V = hn::Vec<D>;

// Keeps a division by the energy of an empty site finite.
constexpr float kTiny = 1e-30F;

HWY_INLINE float Sum(V v) { return hn::GetLane(hn::SumOfLanes(D(), v)); }

float PiecewiseGains(const SiteNumbers& s, const Pieces& pieces, float tau, float* gain) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0F);
    const V members = hn::Set(d, static_cast<float>(s.members));
    V slopes = zero;
    for (std::size_t i = 0; i < s.count; i += hn::Lanes(d)) {
        const V size = hn::Max(hn::Load(d, s.size + i), hn::Set(d, kTiny));
        const V u = hn::Sqrt(size);
        const V per_u = hn::Div(one, u);
        V sum = zero, slope = zero;
        for (std::size_t p = 0; p < pieces.count; ++p) {
            const V a = hn::Set(d, pieces.gains[p]);
            const V beyond = hn::Sub(u, hn::Set(d, pieces.thresholds[p] * tau));
            sum = hn::MulAdd(a, hn::Max(beyond, zero), sum);
            slope = hn::Add(slope, hn::IfThenElseZero(hn::Gt(beyond, zero), a));
        }
        // A threshold of zero lets through what stands behind the last site, too.
        const V g = hn::IfThenElseZero(hn::FirstN(d, s.count - i), hn::Mul(sum, per_u));
        hn::Store(g, d, gain + i);
        // members g + (energy / size) (slope - g)
        const V share = hn::Div(hn::Load(d, s.energy + i), size);
        slopes = hn::Add(slopes, hn::MulAdd(members, g, hn::Mul(share, hn::Sub(slope, g))));
    }
    return Sum(slopes);
}

void PiecewiseGainGradients(const SiteNumbers& s, const Pieces& pieces, float tau,
                            const SiteGradients& g, float* thresholds, float* gains) {
    const D d;
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0F);
    const V members = hn::Set(d, static_cast<float>(s.members));
    const V by_slope = hn::Set(d, g.by_slope);
    V by_threshold[kMostPieces], by_a[kMostPieces];
    for (std::size_t p = 0; p < pieces.count; ++p) by_threshold[p] = by_a[p] = zero;
    for (std::size_t i = 0; i < s.count; i += hn::Lanes(d)) {
        const V size = hn::Max(hn::Load(d, s.size + i), hn::Set(d, kTiny));
        const V u = hn::Sqrt(size);
        const V per_u = hn::Div(one, u);
        const V share = hn::Div(hn::Load(d, s.energy + i), size);
        // By the gain: through x, and through the slope members g + share (slope - g).
        const V by_g = hn::IfThenElseZero(
            hn::FirstN(d, s.count - i),
            hn::MulAdd(by_slope, hn::Sub(members, share), hn::Load(d, g.by_gain + i)));
        V sum = zero, slope = zero;
        for (std::size_t p = 0; p < pieces.count; ++p) {
            const V a = hn::Set(d, pieces.gains[p]);
            const V beyond = hn::Sub(u, hn::Set(d, pieces.thresholds[p] * tau));
            const auto passes = hn::Gt(beyond, zero);
            const V height = hn::Max(beyond, zero);
            sum = hn::MulAdd(a, height, sum);
            slope = hn::Add(slope, hn::IfThenElseZero(passes, a));
            const V gained = hn::Mul(by_g, per_u);
            by_threshold[p] = hn::Sub(by_threshold[p], hn::IfThenElseZero(passes, gained));
            by_a[p] = hn::MulAdd(gained, height, by_a[p]);
            by_a[p] = hn::Add(by_a[p], hn::IfThenElseZero(passes, hn::Mul(by_slope, share)));
        }
        const V gain = hn::Mul(sum, per_u);
        // d gain / d size
        const V bend = hn::Div(hn::Sub(slope, gain), hn::Add(size, size));
        const V twice = hn::Add(by_slope, by_slope);
        hn::Store(hn::Mul(bend, hn::NegMulAdd(twice, share, by_g)), d, g.by_size + i);
        hn::Store(hn::Mul(twice, bend), d, g.by_energy + i);
    }
    for (std::size_t p = 0; p < pieces.count; ++p) {
        thresholds[p] = pieces.gains[p] * Sum(by_threshold[p]);
        gains[p] = Sum(by_a[p]);
    }
}

float WienerGains(const WienerNumbers& n, const float* local, float* gain) {
    const D d;
    const V least = hn::Set(d, n.floor), noise = hn::Set(d, n.noise), tiny = hn::Set(d, kTiny);
    V sum = hn::Zero(d);
    for (std::size_t i = 0; i < n.count; i += hn::Lanes(d)) {
        const V energy =
            hn::Mul(hn::Load(d, n.variance + i), hn::Add(least, hn::Load(d, local + i)));
        const V g = hn::Div(energy, hn::Add(hn::Add(energy, noise), tiny));
        hn::Store(g, d, gain + i);
        sum = hn::Add(sum, g);
    }
    return static_cast<float>(n.members) * Sum(sum);
}

void ShrinkInput(std::size_t count, float from1, const float* x1, float from2, const float* x2,
                 float step, const float* q, float* z) {
    const D d;
    const V f1 = hn::Set(d, from1), f2 = hn::Set(d, from2), minus_step = hn::Set(d, -step);
    for (std::size_t j = 0; j < count; j += hn::Lanes(d)) {
        V v = hn::Mul(minus_step, hn::Load(d, q + j));
        if (x1) v = hn::MulAdd(f1, hn::Load(d, x1 + j), v);
        if (x2) v = hn::MulAdd(f2, hn::Load(d, x2 + j), v);
        hn::Store(v, d, z + j);
    }
}

// Members begin anywhere in a row, so that the compiler does the rest of these.

void SiteProducts(const SiteShape& shape, const float* a, const float* b, float* HWY_RESTRICT sum) {
    std::fill_n(sum, padded(shape.count), 0.0F);
    for (std::size_t e = 0; e < shape.group(); ++e) {
        const float* HWY_RESTRICT u = a + shape.member(e);
        const float* HWY_RESTRICT v = b + shape.member(e);
        for (std::size_t i = 0; i < shape.count; ++i) sum[i] += u[i] * v[i];
    }
}

void ExpandSites(const SiteShape& shape, const float* HWY_RESTRICT gain, const float* a,
                 const float* HWY_RESTRICT energy, const float* b, float* out) {
    for (std::size_t e = 0; e < shape.group(); ++e) {
        const float* u = a + shape.member(e);
        float* to = out + shape.member(e);
        if (b) {
            const float* v = b + shape.member(e);
            for (std::size_t i = 0; i < shape.count; ++i)
                to[i] = gain[i] * u[i] + 2 * energy[i] * v[i];
        } else {
            for (std::size_t i = 0; i < shape.count; ++i) to[i] = gain[i] * u[i];
        }
    }
}

}  // namespace pibinn::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pibinn::cpu {

HWY_EXPORT(PiecewiseGains);
HWY_EXPORT(PiecewiseGainGradients);
HWY_EXPORT(WienerGains);
HWY_EXPORT(ShrinkInput);
HWY_EXPORT(SiteProducts);
HWY_EXPORT(ExpandSites);

float piecewise_gains(const SiteNumbers& sites, const Pieces& pieces, float tau, float* gain) {
    return HWY_DYNAMIC_DISPATCH(PiecewiseGains)(sites, pieces, tau, gain);
}

void piecewise_gain_gradients(const SiteNumbers& sites, const Pieces& pieces, float tau,
                              const SiteGradients& gradients, float* thresholds, float* gains) {
    HWY_DYNAMIC_DISPATCH(PiecewiseGainGradients)
    (sites, pieces, tau, gradients, thresholds, gains);
}

float wiener_gains(const WienerNumbers& numbers, const float* local, float* gain) {
    return HWY_DYNAMIC_DISPATCH(WienerGains)(numbers, local, gain);
}

void shrink_input(std::size_t count, float from1, const float* x1, float from2, const float* x2,
                  float step, const float* q, float* z) {
    HWY_DYNAMIC_DISPATCH(ShrinkInput)(count, from1, x1, from2, x2, step, q, z);
}

void site_energies(const SiteShape& shape, const float* z, float* energy) {
    site_products(shape, z, z, energy);
}

void site_products(const SiteShape& shape, const float* a, const float* b, float* sum) {
    HWY_DYNAMIC_DISPATCH(SiteProducts)(shape, a, b, sum);
}

void expand_sites(const SiteShape& shape, const float* gain, const float* a,
                  const float* energy_gradient, const float* b, float* out) {
    HWY_DYNAMIC_DISPATCH(ExpandSites)(shape, gain, a, energy_gradient, b, out);
}

}  // namespace pibinn::cpu
#endif
