#include "pibinn/error_bound.hpp"

#include <algorithm>
#include <cmath>

#include "spectral/alpha.hpp"
#include "spectral/norm_recursion.hpp"

namespace pibinn {

namespace {

double largest_alpha(const BoundInputs& in, WeightSet set) {
    double most = 0;
    for (const LayerTerms& layer : in.layers)
        most = std::max(most, alpha(set, layer.f, layer.mu, in.s));
    return most;
}

}  // namespace

BoundInputs inflated(const BoundInputs& in) {
    BoundInputs out = in;
    const double rho = in.operator_radius;
    const double eta = in.weight_radius;
    const double a = in.operator_norm;
    const double root = std::sqrt(static_cast<double>(in.s));
    for (LayerTerms& layer : out.layers) {
        // (W + dW)^T (A + dA) - W^T A, once for all columns of S and once for a single W_i.
        const double drift = layer.weight * rho + a * eta + rho * eta;
        const double column_drift = layer.column * rho + a * eta + rho * eta;
        layer.f += drift;
        layer.leak += column_drift;
        layer.mu += column_drift;
        // A row of s entries and length d sums up to sqrt(s) d at most.
        layer.f_row += root * drift;
        layer.f_column += root * drift;
        layer.leak_row += root * column_drift;
        layer.leak_entry += column_drift;
        layer.weight += eta;
        layer.column += eta;
        if (rho > 0) layer.projected_leak = layer.column;  // the range of A'_S is another
        if (eta > 0) layer.projected_leak = std::min(layer.projected_leak + eta, layer.column);
    }
    out.operator_norm += rho;
    out.operator_radius = 0;
    out.weight_radius = 0;
    return out;
}

double alpha_hard(const BoundInputs& in) { return largest_alpha(in, WeightSet::hard); }

double alpha_soft(const BoundInputs& in) { return largest_alpha(in, WeightSet::soft); }

double alpha(const BoundInputs& in) { return largest_alpha(in, weight_set(in.activation)); }

ErrorBound error_bound(const BoundInputs& in) {
    ErrorBound bound;
    NormRecursion recursion(in);
    for (const LayerTerms& layer : in.layers) {
        const Shrink shrink{layer.theta, layer.thresholds, layer.gains};
        const double needed = in.outside ? recursion.needed() : 0;
        if (in.outside && !keeps_at_zero(in.activation, dead_zone(shrink), needed) &&
            bound.first_leak == 0)
            bound.first_leak = bound.error.size() + 1;
        bound.theta_needed.push_back(needed);
        bound.error.push_back(recursion.advance(shrink));
    }
    return bound;
}

}  // namespace pibinn
