#pragma once

#include <cstddef>

#include "algebra/cpu/row_kernels.hpp"
#include "algebra/sites.hpp"

namespace pibinn::cpu {

/// The rows of one signal in a pass, and how they fall into sites.
struct SiteShape {
    Sites sites;
    std::size_t count = 0;   ///< sites
    std::size_t stride = 0;  ///< of a row

    std::size_t group() const { return sites.grouping.size(); }
    /// Where the entries of member e = 0 .. group() - 1 of all sites begin.
    std::size_t member(std::size_t e) const {
        return e / sites.grouping.halves * stride + e % sites.grouping.halves * count;
    }
};

/// Numbers per site, all padded with zeros to whole vectors. `size` is what a gain is computed
/// from: the energy of the group, and with neighbours a share of theirs.
struct SiteNumbers {
    std::size_t count;    ///< sites
    std::size_t members;  ///< of a group
    const float* energy;  ///< of the group alone
    const float* size;
};

/// What the sites of one signal gain backward; everything is of -dL.
struct SiteGradients {
    const float* by_gain;  ///< in: by each site's gain, through x
    float by_slope;        ///< in: by the sum of slopes
    float* by_size;        ///< out
    float* by_energy;      ///< out: what does not go through `size`
};

/// gain(u) = sum_j a_j max(u - T_j, 0) / u of u = sqrt(size); 0 where u is within all thresholds.
/// Returns the sum of the slopes: of the derivatives of every entry by itself.
float piecewise_gains(const SiteNumbers& sites, const Pieces& pieces, float tau, float* gain);
/// `thresholds` and `gains` gain by the products t_j tau and by a_j, one number for each piece.
void piecewise_gain_gradients(const SiteNumbers& sites, const Pieces& pieces, float tau,
                              const SiteGradients& gradients, float* thresholds, float* gains);

/// E / (E + t) with E = v (floor + local).
struct WienerNumbers {
    std::size_t count;      ///< sites
    std::size_t members;    ///< of a group
    const float* variance;  ///< v of each site
    float floor;
    float noise;  ///< t
};
/// Returns the sum of the slopes, for which the gains are taken.
float wiener_gains(const WienerNumbers& numbers, const float* local, float* gain);

/// z = from1 x1 + from2 x2 - step q of one row; x1 and x2 may be null.
void shrink_input(std::size_t count, float from1, const float* x1, float from2, const float* x2,
                  float step, const float* q, float* z);
/// energy[i] = sum of z^2 over the members of site i
void site_energies(const SiteShape& shape, const float* z, float* energy);
/// sum[i] = sum of a b over the members of site i
void site_products(const SiteShape& shape, const float* a, const float* b, float* sum);
/// out = gain a + 2 energy_gradient b, member by member; b may be null.
void expand_sites(const SiteShape& shape, const float* gain, const float* a,
                  const float* energy_gradient, const float* b, float* out);

}  // namespace pibinn::cpu
