#pragma once

#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "pibinn/activation.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

/// The sets of weights that the theory knows, by the alpha that must be below 1.
enum class WeightSet {
    hard,  ///< eq. ht1: alpha_k = f_k
    soft   ///< eq. to10: alpha_k = f_k + mu_k s
};

/// Whether the theory knows the activation at all. One whose rules name no contraction bound is
/// refused.
bool is_certifiable(Activation activation);
/// Whether errors of a network can be bounded: the theory knows its activation, or it is a learned
/// shrink with thresholds that are fixed.
bool is_certifiable(const NetworkSpec& spec);
/// The set that belongs to an activation; a learned shrink is told by that of `soft`. A usage error
/// for one that is not certifiable.
WeightSet weight_set(Activation activation);

/// mu s where the set asks for it, otherwise 0: what alpha_k has beside f_k.
double coherence_term(WeightSet set, double mu, std::size_t s);
/// alpha_k of a layer.
double alpha(WeightSet set, double f, double mu, std::size_t s);

/// What alpha_k is made of where delta and the scale of the weights may still change.
struct AlphaTerms {
    std::vector<Eigen::MatrixXd> grams;  ///< W_S^T A_S, one per support
    double extra = 0;                    ///< coherence_term at scale 1
};

/// alpha_k = max over the supports of ||delta I - scale W_S^T A_S||, and scale times the extra
/// term; 0 without supports. Convex in delta and in scale: a norm of what is linear in both.
double alpha(const AlphaTerms& layer, double delta, double scale = 1);
/// The largest of all layers.
double alpha(const std::vector<AlphaTerms>& layers, double delta, double scale = 1);

/// Cvg(k), eq. to6 and ht5: alpha^k B + |1 - delta| / (1 - alpha) B; infinite if alpha >= 1.
double cvg(double alpha, double delta, double B, std::size_t k);

}  // namespace pibinn
