#include "algebra/cpu/site_shrink.hpp"

#include <algorithm>
#include <cmath>

#include "algebra/activate.hpp"
#include "algebra/ring_sum.hpp"

namespace pibinn::cpu {

namespace {

/// A hard threshold as backward takes it: gain = (1 - g / s) S(s) with s = u / T, g the softening
/// and S a ramp from 1 - width to 1 + width (RampRows).
struct RampGain {
    float gain, slope;  ///< slope by s

    RampGain(float s, float softening, float width) {
        const float kept = 1 - softening / s;
        const bool climbing = width > 0 && s < 1 + width;
        const float step = climbing ? (s - 1 + width) / (2 * width) : 1.0F;
        gain = kept * step;
        slope = softening / (s * s) * step + (climbing ? kept / (2 * width) : 0.0F);
    }
};

float ramp_width(const SiteSettings& s) { return s.ramp * (1 - s.softening); }

double dot(std::size_t count, const float* a, const float* b) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += double{a[i]} * b[i];
    return sum;
}

}  // namespace

void SiteSums::clear(const SiteSettings& settings) {
    thresholds.assign(settings.pieces.count, 0.0);
    gains.assign(settings.pieces.count, 0.0);
    theta = 0;
    local.assign(settings.local.size(), 0.0);
    prior.assign(settings.prior.size(), 0.0);
}

SiteShrink::SiteShrink(const Sites& sites, std::size_t n, std::size_t stride)
    : shape_{sites, n / sites.grouping.halves, stride} {
    for (Numbers* numbers : {&energy_, &size_, &gain_, &products_, &by_size_, &by_energy_,
                             &variance_, &share_, &ring_})
        numbers->resize(padded(shape_.count));
    marked_.resize(shape_.count);
}

void SiteShrink::energies(const SiteSettings& settings, const float* z) {
    site_energies(shape_, z, energy_.data());
    if (settings.activation == Activation::wiener) return;
    std::copy(energy_.begin(), energy_.end(), size_.begin());
    for (std::size_t r = 1; r <= settings.local.size(); ++r)
        add_ring_sum(shape_.sites.near, r, shape_.count, settings.local[r - 1], energy_.data(),
                     size_.data());
}

float SiteShrink::forward(const SiteSettings& settings, float tau, const float* z, float* x) {
    energies(settings, z);
    const float slopes = settings.activation == Activation::wiener ? wiener(settings, tau)
                         : settings.activation == Activation::hard ? hard(settings, tau)
                                                                   : shrink(settings, tau);
    expand_sites(shape_, gain_.data(), z, nullptr, nullptr, x);
    find_alive(settings, tau);
    return slopes;
}

float SiteShrink::shrink(const SiteSettings& settings, float tau) {
    return piecewise_gains({shape_.count, shape_.group(), energy_.data(), size_.data()},
                           settings.pieces, tau, gain_.data());
}

float SiteShrink::hard(const SiteSettings& settings, float tau) {
    const float least = settings.pieces.thresholds[0] * tau;
    std::size_t count = 0;
    for (std::size_t i = 0; i < shape_.count; ++i) {
        const float u = std::sqrt(size_[i]);
        const bool passes = u >= least && u > 0;
        gain_[i] = passes ? 1 - settings.softening * least / u : 0.0F;
        count += passes;
    }
    return static_cast<float>(count * shape_.group());
}

void SiteShrink::wiener_energies(const SiteSettings& settings, float noise) {
    const float members = static_cast<float>(shape_.group());
    for (std::size_t i = 0; i < shape_.count; ++i) {
        variance_[i] = std::exp(settings.prior[i]);
        share_[i] = energy_[i] / (members * (variance_[i] + noise));
    }
    // The local energy: of the site itself, then ring by ring.
    for (std::size_t i = 0; i < shape_.count; ++i) size_[i] = settings.local[1] * share_[i];
    for (std::size_t r = 1; r + 1 < settings.local.size(); ++r)
        add_ring_sum(shape_.sites.near, r, shape_.count, settings.local[r + 1], share_.data(),
                     size_.data());
}

float SiteShrink::wiener(const SiteSettings& settings, float tau) {
    const float noise = settings.theta * settings.theta * tau * tau;
    wiener_energies(settings, noise);
    return wiener_gains({shape_.count, shape_.group(), variance_.data(), settings.local[0], noise},
                        size_.data(), gain_.data());
}

void SiteShrink::find_alive(const SiteSettings& settings, float tau) {
    alive_.clear();
    reach_.clear();
    const Neighbourhood& near = shape_.sites.near;
    if (settings.activation == Activation::wiener) {
        for (std::uint32_t i = 0; i < shape_.count; ++i) alive_.push_back(i);
        reach_ = alive_;
        return;
    }
    float least = settings.pieces.thresholds[0] * tau;
    for (std::size_t p = 1; p < settings.pieces.count; ++p)
        least = std::min(least, settings.pieces.thresholds[p] * tau);
    if (settings.activation == Activation::hard) least *= 1 - ramp_width(settings);
    const float squared = least <= 0 ? -1.0F : least * least;
    std::fill(marked_.begin(), marked_.end(), char{0});
    for (std::uint32_t i = 0; i < shape_.count; ++i) {
        // What is no number must not be lost.
        if (gain_[i] != 0) alive_.push_back(i);
        marked_[i] = !(size_[i] <= squared) || gain_[i] != 0;
    }
    if (near.rings > 0) {
        // A box around each site holds its rings.
        const std::vector<char> inner = marked_;
        const auto side = static_cast<std::ptrdiff_t>(near.grid);
        const auto count = static_cast<std::ptrdiff_t>(shape_.count);
        const auto wide = static_cast<std::ptrdiff_t>(near.rings);
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            if (!inner[static_cast<std::size_t>(i)]) continue;
            if (side > 0) {
                for (std::ptrdiff_t a = std::max<std::ptrdiff_t>(0, i / side - 2);
                     a <= std::min(side - 1, i / side + 2); ++a)
                    for (std::ptrdiff_t b = std::max<std::ptrdiff_t>(0, i % side - 2);
                         b <= std::min(side - 1, i % side + 2); ++b)
                        marked_[static_cast<std::size_t>(a * side + b)] = 1;
            } else {
                for (std::ptrdiff_t a = -wide; a <= wide; ++a)
                    marked_[static_cast<std::size_t>(((i + a) % count + count) % count)] = 1;
            }
        }
    }
    for (std::uint32_t i = 0; i < shape_.count; ++i)
        if (marked_[i]) reach_.push_back(i);
}

double SiteShrink::backward(const SiteSettings& settings, float tau, const float* z, float by_slope,
                            float* h, SiteSums& sums) {
    energies(settings, z);
    const bool wiener_gain = settings.activation == Activation::wiener;
    if (wiener_gain)
        wiener(settings, tau);
    else if (settings.activation == Activation::hard)
        hard(settings, tau);
    else
        shrink(settings, tau);
    find_alive(settings, tau);
    // Off the reach nothing passes, and anything stands there.
    std::fill(marked_.begin(), marked_.end(), char{0});
    for (const std::uint32_t i : reach_) marked_[i] = 1;
    for (std::size_t e = 0; e < shape_.group(); ++e) {
        float* row = h + shape_.member(e);
        for (std::size_t i = 0; i < shape_.count; ++i) row[i] = marked_[i] ? row[i] : 0.0F;
    }
    site_products(shape_, h, z, products_.data());
    std::fill(by_energy_.begin(), by_energy_.end(), 0.0F);
    double by_tau = 0;
    if (wiener_gain)
        by_tau = wiener_backward(settings, tau, by_slope, sums);
    else if (settings.activation == Activation::hard)
        by_tau = hard_backward(settings, tau);
    else
        by_tau = shrink_backward(settings, tau, by_slope, sums);
    if (settings.activation == Activation::hard) sums.thresholds[0] += by_tau * tau;
    if (!wiener_gain) {
        const Neighbourhood& near = shape_.sites.near;
        for (std::size_t i = 0; i < shape_.count; ++i) by_energy_[i] += by_size_[i];
        for (std::size_t r = 1; r <= settings.local.size(); ++r) {
            std::fill(ring_.begin(), ring_.end(), 0.0F);
            add_ring_sum(near, r, shape_.count, 1.0F, energy_.data(), ring_.data());
            sums.local[r - 1] -= dot(shape_.count, by_size_.data(), ring_.data());
            add_ring_sum(near, r, shape_.count, settings.local[r - 1], by_size_.data(),
                         by_energy_.data());
        }
        if (settings.activation == Activation::hard) by_tau *= settings.pieces.thresholds[0];
    }
    expand_sites(shape_, gain_.data(), h, by_energy_.data(), z, h);
    return by_tau;
}

double SiteShrink::shrink_backward(const SiteSettings& settings, float tau, float by_slope,
                                   SiteSums& sums) {
    const Pieces& pieces = settings.pieces;
    float by_threshold[kMostPieces], by_gain[kMostPieces];
    piecewise_gain_gradients({shape_.count, shape_.group(), energy_.data(), size_.data()}, pieces,
                             tau, {products_.data(), -by_slope, by_size_.data(), by_energy_.data()},
                             by_threshold, by_gain);
    double by_tau = 0;
    for (std::size_t p = 0; p < pieces.count; ++p) {
        sums.thresholds[p] -= double{by_threshold[p]} * tau;
        sums.gains[p] -= by_gain[p];
        by_tau -= double{by_threshold[p]} * pieces.thresholds[p];
    }
    return by_tau;
}

// Returns dL by the threshold itself.
double SiteShrink::hard_backward(const SiteSettings& settings, float tau) {
    const float least = settings.pieces.thresholds[0] * tau;
    const float width = ramp_width(settings);
    double by_threshold = 0;
    for (std::size_t i = 0; i < shape_.count; ++i) {
        by_size_[i] = 0;
        if (settings.ramp == 0) continue;
        const float u = std::sqrt(size_[i]);
        if (!(u > (1 - width) * least) || least <= 0) {
            gain_[i] = least <= 0 ? gain_[i] : 0.0F;
            continue;
        }
        const float s = u / least;
        const RampGain ramp(s, settings.softening, width);
        gain_[i] = ramp.gain;
        by_size_[i] = products_[i] * ramp.slope / (2 * u * least);
        by_threshold += double{products_[i]} * ramp.slope * s / least;
    }
    return by_threshold;
}

double SiteShrink::wiener_backward(const SiteSettings& settings, float tau, float by_slope,
                                   SiteSums& sums) {
    const float noise = settings.theta * settings.theta * tau * tau;
    const auto members = static_cast<float>(shape_.group());
    double by_noise = 0, by_floor = 0;
    // by_size_: -dL by the local energy of each site.
    for (std::size_t i = 0; i < shape_.count; ++i) {
        const float energy = variance_[i] * (settings.local[0] + size_[i]);
        const float whole = energy + noise + 1e-30F;
        const float by_gain = products_[i] - by_slope * members;
        const float by_e = by_gain * (noise / whole) / whole;
        by_noise -= double{by_gain} * (energy / whole) / whole;
        by_floor += double{by_e} * variance_[i];
        by_size_[i] = by_e * variance_[i];
        sums.prior[i] -= double{by_e} * energy;
    }
    sums.local[0] -= by_floor;
    sums.local[1] -= dot(shape_.count, by_size_.data(), share_.data());
    const Neighbourhood& near = shape_.sites.near;
    for (std::size_t i = 0; i < shape_.count; ++i) by_energy_[i] = settings.local[1] * by_size_[i];
    for (std::size_t r = 1; r + 1 < settings.local.size(); ++r) {
        std::fill(ring_.begin(), ring_.end(), 0.0F);
        add_ring_sum(near, r, shape_.count, 1.0F, share_.data(), ring_.data());
        sums.local[r + 1] -= dot(shape_.count, by_size_.data(), ring_.data());
        add_ring_sum(near, r, shape_.count, settings.local[r + 1], by_size_.data(),
                     by_energy_.data());
    }
    // by_energy_ so far: -dL by z^2 / (v + t) of each site.
    for (std::size_t i = 0; i < shape_.count; ++i) {
        const float both = variance_[i] + noise;
        const double by_both = -double{by_energy_[i]} * share_[i] / both;
        sums.prior[i] -= by_both * variance_[i];
        by_noise += by_both;
        by_energy_[i] /= members * both;
    }
    sums.theta -= by_noise * 2 * settings.theta * tau * tau;
    return -by_noise * 2 * settings.theta * settings.theta * tau;
}

}  // namespace pibinn::cpu
