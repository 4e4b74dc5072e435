#include "pibinn/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "spectral/alpha.hpp"

namespace pibinn {

namespace {

double root(std::size_t s) { return std::sqrt(static_cast<double>(s)); }

/// How far the activation itself can jump: |H(z) - H(z')| <= |z - z'| + theta on each of s entries
/// for `hard`. `soft` is non-expansive.
double jump_of(const BoundInputs& in, double theta) {
    switch (weight_set(in.activation)) {
        case WeightSet::soft:
            return 0;
        case WeightSet::hard:
            return (theta + in.threshold_radius) * root(in.s);
    }
    return 0;
}

/// prod f_j over j = i + 1 .. k for all i <= k, in row k - 1 and column i - 1.
Matrix<double> products(const BoundInputs& in) {
    const std::size_t K = in.layers.size();
    Matrix<double> product(K, K);
    for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t i = 0; i < k; ++i) product(k, i) = product(k - 1, i) * in.layers[k].f;
        product(k, k) = 1;
    }
    return product;
}

}  // namespace

std::vector<double> cvg(const BoundInputs& in) {
    const double a = alpha(in);
    std::vector<double> bound;
    for (std::size_t k = 1; k <= in.layers.size(); ++k) bound.push_back(cvg(a, in.delta, in.B, k));
    return bound;
}

AskedThresholds asked_thresholds(const BoundInputs& in) {
    AskedThresholds asked;
    double error = in.B;
    for (const LayerTerms& layer : in.layers) {
        const double theta = layer.mu * root(in.s) * error + layer.column * in.noise;
        error = layer.f * error + root(in.s) * theta + std::abs(1 - in.delta) * in.B +
                layer.weight * in.noise;
        asked.theta.push_back(theta);
        asked.error.push_back(error);
    }
    return asked;
}

ResponseBounds response_bounds(const BoundInputs& in, const ErrorBound& error) {
    const std::size_t K = in.layers.size();
    const Matrix<double> product = products(in);
    const AskedThresholds asked = asked_thresholds(in);
    ResponseBounds out;
    out.sens_w = Matrix<double>(K, K);
    out.sens_theta = Matrix<double>(K, K);
    for (std::size_t k = 0; k < K; ++k) {
        const LayerTerms& layer = in.layers[k];
        // |H(z)| <= |z|, so the threshold adds nothing.
        out.zeta.push_back(layer.f * error.before(k, in.B) + in.delta * in.B +
                           layer.weight * in.noise);
        double stab_q = 0, stab_b = 0, jump = 0, extra = 0;
        for (std::size_t i = 0; i <= k; ++i) {
            const LayerTerms& from = in.layers[i];
            const double prod = product(k, i);
            stab_q += from.weight * (i == 0 ? 0.0 : out.zeta[i - 1]) * prod;
            stab_b += from.weight * prod;
            jump += jump_of(in, from.theta) * prod;
            if (i < k) extra += 2 * root(in.s) * asked.theta[i] * prod;
            out.sens_w(k, i) = (in.operator_norm * error.before(i, in.B) + in.noise) * prod;
            out.sens_theta(k, i) = root(in.s) * prod;
        }
        out.stab_q.push_back(stab_q);
        out.stab_b.push_back(stab_b);
        out.jump.push_back(jump);
        out.term_a.push_back(2 * root(in.s) * asked.theta[k]);
        out.term_b.push_back(extra);
    }
    return out;
}

TheoremBound theorem_1(const TheoremInputs& inputs, std::size_t s, double error,
                       const ResponseBounds& response) {
    TheoremBound bound;
    bound.used = inputs;
    const std::size_t last = response.stab_q.size() - 1;
    const double n = inputs.N;
    const double gamma = inputs.log_gamma;
    bound.C1 = inputs.c1 * gamma;
    bound.C3 = inputs.c3 * (gamma / std::sqrt(n) + std::sqrt(gamma) * std::exp(-inputs.t));
    bound.C2 = inputs.c2 * (inputs.t * gamma / n + (bound.C3 + 1) * gamma / std::sqrt(n));
    for (std::size_t i = 0; i <= last; ++i)
        bound.sensitivity += response.sens_w(last, i) + response.sens_theta(last, i);
    bound.stability_hat =
        std::sqrt(2.0) * static_cast<double>(s) / std::sqrt(n) * response.stab_q[last];
    const double level = error + std::sqrt(inputs.r);
    bound.value =
        bound.sensitivity * inputs.b_theta + response.jump[last] +
        bound.stability_hat * (std::sqrt(level * level * bound.C1 + bound.C2) + bound.C3 + 4);
    return bound;
}

}  // namespace pibinn
