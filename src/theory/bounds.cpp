#include "pibinn/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "spectral/alpha.hpp"

namespace pibinn {

namespace {

double root(std::size_t s) { return std::sqrt(static_cast<double>(s)); }

/// What the recursion of a layer needs of those before it.
struct Motion {
    double v = 0;         ///< ||v_k - x||
    double residual = 0;  ///< ||r_k||
    double carried = 0;   ///< the Onsager term's share of ||r_k||
};

Motion motion(const BoundInputs& in, std::size_t k, const std::vector<double>& error,
              double residual_before) {
    const LayerTerms& layer = in.layers[k - 1];
    Motion now;
    const double e1 = k == 1 ? in.B : error[k - 2];
    const double e2 = k <= 2 ? in.B : error[k - 3];
    // x_0 = x_{-1}, so the first layer has no momentum to add.
    now.v = k == 1 ? in.B : std::abs(1 + layer.beta) * e1 + std::abs(layer.beta) * e2;
    const double share = static_cast<double>(in.s) / static_cast<double>(in.least_rows);
    now.carried = std::abs(layer.omega) * std::min(1.0, share) * residual_before;
    now.residual = in.operator_norm * now.v + in.noise + now.carried;
    return now;
}

/// How far the threshold can move x_k: |H(z) - z| <= theta on each of s entries.
double shrinkage(const BoundInputs& in, const LayerTerms& layer, double residual) {
    const double unit = in.update.residual_threshold
                            ? residual / root(in.least_rows)  // mean|r| <= ||r|| / sqrt(m)
                            : 1.0;
    return (layer.theta + in.threshold_radius) * unit * root(in.s);
}

double threshold_needed(const BoundInputs& in, const LayerTerms& layer, const Motion& now) {
    if (!in.outside) return 0;
    if (!in.update.residual_threshold)
        return layer.leak * now.v + layer.column * (in.noise + now.carried) + in.threshold_radius;
    // Outside S z_i = -W_i^T r, and theta mean|r| >= theta ||r|| / m. Without noise r lies in the
    // range of A_S.
    return static_cast<double>(in.most_rows) *
               (in.noise > 0 ? layer.column : layer.projected_leak) +
           in.threshold_radius;
}

/// Whether a threshold provably keeps entries outside S at zero. `soft` maps |z| = theta to zero,
/// `hard` keeps it.
bool keeps_support(WeightSet set, double theta, double needed) {
    switch (set) {
        case WeightSet::soft:
            return theta >= needed;
        case WeightSet::hard:
            return theta > needed;
    }
    return false;
}

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

double largest_alpha(const BoundInputs& in, WeightSet set) {
    double most = 0;
    for (const LayerTerms& layer : in.layers)
        most = std::max(most, alpha(set, layer.f, layer.mu, in.s));
    return most;
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

BoundInputs inflated(const BoundInputs& in) {
    BoundInputs out = in;
    const double rho = in.operator_radius;
    const double eta = in.weight_radius;
    const double a = in.operator_norm;
    for (LayerTerms& layer : out.layers) {
        // (W + dW)^T (A + dA) - W^T A, once for all columns of S and once for a single W_i.
        const double drift = layer.weight * rho + a * eta + rho * eta;
        const double column_drift = layer.column * rho + a * eta + rho * eta;
        layer.f += drift;
        layer.leak += column_drift;
        layer.mu += column_drift;
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

ErrorBound error_bound(const BoundInputs& in, const Responses& responses) {
    const WeightSet set = weight_set(in.activation);
    ErrorBound bound;
    std::vector<double> sources;
    double residual = 0;
    for (std::size_t k = 1; k <= in.layers.size(); ++k) {
        const LayerTerms& layer = in.layers[k - 1];
        const Motion now = motion(in, k, bound.error, residual);
        residual = now.residual;
        const double needed = threshold_needed(in, layer, now);
        const bool safe = !in.outside || keeps_support(set, layer.theta, needed);
        if (!safe && bound.first_leak == 0) bound.first_leak = k;
        bound.theta_needed.push_back(needed);

        sources.push_back(layer.weight * (in.noise + now.carried) + std::abs(1 - in.delta) * in.B +
                          shrinkage(in, layer, now.residual));
        double error = layer.f * now.v + sources.back();
        if (responses.rows() > 0) {
            double linear = responses(k, 0) * in.B;
            for (std::size_t j = 1; j <= k; ++j) linear += responses(k, j) * sources[j - 1];
            error = std::min(error, linear);
        }
        bound.error.push_back(error);
    }
    return bound;
}

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
