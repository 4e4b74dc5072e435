#include "spectral/alpha.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "algebra/activate.hpp"
#include "pibinn/error.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"

namespace pibinn {

bool is_certifiable(Activation activation) {
    return rules_of(activation).bound != ContractionBound::none;
}

bool is_certifiable(const NetworkSpec& spec) {
    // The Onsager term of a learned shrink counts slopes, which have no bound here.
    if (spec.activation == Activation::piecewise)
        return !spec.update.residual_threshold && !spec.update.onsager;
    return is_certifiable(spec.activation);
}

WeightSet weight_set(Activation activation) {
    switch (rules_of(activation).bound) {
        case ContractionBound::soft:
            return WeightSet::soft;
        case ContractionBound::hard:
            return WeightSet::hard;
        case ContractionBound::none:
            if (activation == Activation::piecewise) return WeightSet::soft;
            break;
    }
    fail_usage("activation '" + std::string(to_string(activation)) +
                   "' belongs to no weight set of the theory",
               "the theory is about activation 'soft' and 'hard'");
}

double coherence_term(WeightSet set, double mu, std::size_t s) {
    switch (set) {
        case WeightSet::hard:
            return 0;
        case WeightSet::soft:
            return mu * static_cast<double>(s);
    }
    return std::numeric_limits<double>::infinity();
}

double alpha(WeightSet set, double f, double mu, std::size_t s) {
    return f + coherence_term(set, mu, s);
}

double alpha(const AlphaTerms& layer, double delta, double scale) {
    if (layer.grams.empty()) return 0;
    double most = 0;
    for (const Eigen::MatrixXd& gram : layer.grams)
        most = std::max(most, spectral_norm(step_matrix(gram, delta, scale)));
    return most + scale * layer.extra;
}

double alpha(const std::vector<AlphaTerms>& layers, double delta, double scale) {
    double most = 0;
    for (const AlphaTerms& layer : layers) most = std::max(most, alpha(layer, delta, scale));
    return most;
}

double cvg(double alpha, double delta, double B, std::size_t k) {
    if (!(alpha < 1)) return std::numeric_limits<double>::infinity();
    return std::pow(alpha, static_cast<double>(k)) * B + std::abs(1 - delta) / (1 - alpha) * B;
}

}  // namespace pibinn
