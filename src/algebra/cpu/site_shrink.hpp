#pragma once

#include <span>
#include <vector>

#include "algebra/cpu/site_kernels.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn::cpu {

/// What a layer's activation by sites is given, beside z.
struct SiteSettings {
    Activation activation = Activation::soft;
    /// Of soft, hard and piecewise: thresholds and gains; soft and hard have one of gain 1.
    Pieces pieces;
    float theta = 0;               ///< of wiener: tau scales with it
    std::span<const float> local;  ///< factors of the rings; of wiener: floor, own energy, rings
    std::span<const float> prior;  ///< of wiener: the logarithm of each site's variance
    float softening = 0;           ///< of hard, as in LayerSettings
    float ramp = 0;
};

/// What the numbers of a layer gain by one signal. All are dL by the number.
struct SiteSums {
    std::vector<double> thresholds, gains;  ///< by theta_j and a_j
    double theta = 0;                       ///< of wiener
    std::vector<double> local, prior;

    void clear(const SiteSettings& settings);
};

/// Shrinks the sites of one signal at a time: x = gain z, one gain per site, which depends on the
/// energy of the site's group and of its neighbours.
class SiteShrink {
public:
    SiteShrink(const Sites& sites, std::size_t n, std::size_t stride);

    const SiteShape& shape() const { return shape_; }

    /// x of z, both the rows of one signal. Returns the sum of slopes over its entries.
    float forward(const SiteSettings& settings, float tau, const float* z, float* x);
    /// After forward: the sites where x may be other than zero.
    std::span<const std::uint32_t> alive() const { return alive_; }
    /// Those through which a gradient passes to z: also the neighbours of such sites.
    std::span<const std::uint32_t> reach() const { return reach_; }

    /// `h` holds -dL/dx at the reach and becomes -dL/dz; anything may stand elsewhere, and zeros
    /// will. `by_slope` is dL by the sum of slopes. Adds to `sums`, and returns dL / dtau.
    double backward(const SiteSettings& settings, float tau, const float* z, float by_slope,
                    float* h, SiteSums& sums);

private:
    void energies(const SiteSettings& settings, const float* z);
    float shrink(const SiteSettings& settings, float tau);
    float hard(const SiteSettings& settings, float tau);
    float wiener(const SiteSettings& settings, float tau);
    void wiener_energies(const SiteSettings& settings, float noise);
    double shrink_backward(const SiteSettings& settings, float tau, float by_slope, SiteSums& sums);
    double hard_backward(const SiteSettings& settings, float tau);
    double wiener_backward(const SiteSettings& settings, float tau, float by_slope, SiteSums& sums);
    void find_alive(const SiteSettings& settings, float tau);

    SiteShape shape_;
    using Numbers = AlignedBuffer<float>;
    Numbers energy_, size_, gain_;
    Numbers products_;             ///< sum of h z over each site
    Numbers by_size_, by_energy_;  ///< -dL by both
    Numbers variance_, share_;     ///< of wiener: v, and z^2 / (v + t)
    Numbers ring_;                 ///< the sum of one ring
    std::vector<char> marked_;
    std::vector<std::uint32_t> alive_, reach_;
};

}  // namespace pibinn::cpu
