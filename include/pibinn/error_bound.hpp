// room: spectral
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

inline constexpr double kUnmeasured = std::numeric_limits<double>::infinity();

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
    /// f and leak for errors that are measured by their largest entry or by the sum of all. What
    /// nobody has measured is infinite, and bounds nothing.
    double f_row = kUnmeasured;       ///< largest sum of a row of |delta I - W_S^T A_S|
    double f_column = kUnmeasured;    ///< largest sum of a column of it
    double leak_row = kUnmeasured;    ///< max over i outside S of the sum of |W_i^T A_j|, j in S
    double leak_entry = kUnmeasured;  ///< max |W_i^T A_j| over i outside S, j in S
    double theta = 0;                 ///< of `piecewise` the least one
    std::vector<double> thresholds, gains;  ///< of `piecewise`
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
    /// Of the numbers that the network runs with: 2^-24 covers float32, for fixed thresholds
    /// without Onsager term; 0 is exact.
    double rounding = 0;
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

    /// No layer can activate an entry outside S, so that E_k holds for every signal of the class.
    bool keeps_support() const { return first_leak == 0; }

    /// E_{k}, with E_0 = B.
    double before(std::size_t layer, double B) const { return layer == 0 ? B : error[layer - 1]; }
};

/// Sound for any thresholds, for all three parts of the accelerated update, and for `hard` whether
/// or not entries of S pass the threshold. E_k supposes that no layer up to k activates an entry
/// outside S: proven where theta_k >= theta_needed (`hard`: >), otherwise to be observed.
ErrorBound error_bound(const BoundInputs& in);

}  // namespace pibinn
