// room: theory
#pragma once

#include <cstddef>
#include <vector>

#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

/// What the bounds know of a layer: suprema over the supports S that are certified. In the Gram
/// form A_S stands for Q[S, S].
struct LayerTerms {
    double f = 0;     ///< ||delta I - W_S^T A_S||_2
    double mu = 0;    ///< max |W_i^T A_j| over all i != j, eq. def_mu
    double leak = 0;  ///< max ||W_i^T A_S||_2 over i outside S: at most mu sqrt(s)
    /// max ||W_i^T U||_2 over i outside S, U an orthonormal basis of the range of A_S: the leak of
    /// a residual, which is projected onto that range.
    double projected_leak = 0;
    double weight = 0;  ///< ||W_S||_2
    double column = 0;  ///< max ||W_i||_2 over all i
    double theta = 0;
    double beta = 0;
    double omega = 0;
};

/// Everything that the bounds are made of: signals x on a support of at most s entries with
/// ||x|| <= B, measured as y = A x + e with ||e|| <= noise.
struct BoundInputs {
    Activation activation = Activation::soft;
    Update update = Update::plain();
    double delta = 1;
    std::size_t s = 1;
    std::size_t least_rows = 1;  ///< m of the smallest block
    std::size_t most_rows = 1;   ///< m of the largest block
    bool outside = true;         ///< some entry lies outside of S; otherwise none can become active
    double B = 1;
    double noise = 0;
    double operator_norm = 0;     ///< sup ||A_S||_2
    double operator_radius = 0;   ///< rho: every A' with ||A'_S - A_S||_2 <= rho is covered too
    double weight_radius = 0;     ///< eta: all W'_k with ||W'_S - W_S||_2, ||W'_i - W_i||_2 <= eta
    double threshold_radius = 0;  ///< tau: every theta' with |theta'_k - theta_k| <= tau too
    std::vector<LayerTerms> layers;
};

/// The same inputs with the radii of operator and weights moved into the terms, so that what is
/// bounded by these terms is bounded for every operator and all weights within the radii. Those
/// radii of the result are 0.
BoundInputs inflated(const BoundInputs& in);

/// alpha of the HT set (eq. ht1: f_k) and of the ST set (eq. to10: f_k + mu_k s).
double alpha_hard(const BoundInputs& in);
double alpha_soft(const BoundInputs& in);
/// The one that belongs to the activation.
double alpha(const BoundInputs& in);

/// How far x_k can be from x, layer by layer, with the thresholds the network has.
struct ErrorBound {
    std::vector<double> error;         ///< E_1 .. E_K
    std::vector<double> theta_needed;  ///< theta_k that keeps every entry outside S inactive
    std::size_t first_leak = 0;        ///< first layer whose threshold is lower, 0 for none

    /// E_{k}, with E_0 = B.
    double before(std::size_t layer, double B) const { return layer == 0 ? B : error[layer - 1]; }
};

/// Norms of the products of companion matrices of a network with momentum: response(k, j) bounds
/// how a change of x_j moves x_k, j = 0 .. k (j = 0: x_0 and x_{-1} together). Empty without.
using Responses = Matrix<double>;

/// Sound for any thresholds, for all three parts of the accelerated update, and for `hard` whether
/// or not entries of S pass the threshold. E_k supposes that no layer up to k activates an entry
/// outside S: proven where theta_k >= theta_needed (`hard`: >), otherwise to be observed.
ErrorBound error_bound(const BoundInputs& in, const Responses& responses = {});

/// Eq. to6 and ht5: alpha^k B + |1 - delta| / (1 - alpha) B, k = 1 .. K; infinite if alpha >= 1.
/// Holds for the plain update without noise and with the thresholds of eq. to7, for `hard` only
/// where all of S passes them and nothing outside of S does.
std::vector<double> cvg(const BoundInputs& in);

/// The thresholds that eq. to7 asks for, mu_k sup ||x_{k-1} - x||_1 with the supremum bounded by
/// sqrt(s) times the error of a network that has them, and that error.
struct AskedThresholds {
    std::vector<double> theta;
    std::vector<double> error;
};
AskedThresholds asked_thresholds(const BoundInputs& in);

/// Appendices D and E in full, for the plain update. All sums run over i = 1 .. k with products of
/// f_j over j = i + 1 .. k.
struct ResponseBounds {
    std::vector<double> zeta;    ///< ||x_k|| <= zeta_k
    std::vector<double> stab_q;  ///< sum w_i zeta_{i-1} prod f_j
    std::vector<double> stab_b;  ///< sum w_i prod f_j
    /// `hard` is not continuous: whatever is perturbed, entries that pass in one network and not in
    /// the other add sum (theta_i + tau) sqrt(s) prod f_j. Zero for `soft`.
    std::vector<double> jump;
    /// The paper's extra terms at eq. to7's thresholds, (I) = (a) + (b). `soft` is non-expansive
    /// and does not need them: shown, not used.
    std::vector<double> term_a, term_b;
    /// (k, i), row and column from 0: Sens^{W_i}(k) = (||A_S|| E_{i-1} + noise) prod f_j and
    /// Sens^{theta_i}(k) = sqrt(s) prod f_j.
    Matrix<double> sens_w, sens_theta;
};
ResponseBounds response_bounds(const BoundInputs& in, const ErrorBound& error);

/// What Theorem 1 needs beside the network. Its O(.) hide constants: they are factors here.
struct TheoremInputs {
    double N = 0;   ///< training signals; 0: as many as are measured
    double r = -1;  ///< level: mean squared loss; negative: as measured
    double t = 0;   ///< confidence, > 0; 0: ln(N) / 2, so that e^-t = N^-1/2
    double log_gamma =
        -1;               ///< ln of the covering number; negative: d ln(1 + 2 rho sqrt N), d = m s
    double b_theta = -1;  ///< B_theta; negative: sup ||W_S||, lambda sqrt(m s) for one-bit
    double c1 = 1, c2 = 1, c3 = 1;  ///< factors of the orders of C_1, C_2, C_3
};

struct TheoremBound {
    TheoremInputs used;  ///< with the defaults filled in
    double C1 = 0, C2 = 0, C3 = 0;
    double sensitivity = 0;    ///< sum over i of Sens^{W_i}(K) + Sens^{theta_i}(K)
    double stability_hat = 0;  ///< sqrt(2) s N^{-1/2} Stab^Q(K)
    double value = 0;          ///< of the form of the bound on the local Rademacher complexity
};
/// `inputs` with all defaults filled in.
TheoremBound theorem_1(const TheoremInputs& inputs, std::size_t s, double error,
                       const ResponseBounds& response);

}  // namespace pibinn
