// room: theory
#pragma once

#include <cstddef>
#include <vector>

#include "pibinn/error_bound.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

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
