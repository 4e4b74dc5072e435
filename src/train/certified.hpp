#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Dense>

#include "model/parameters.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/problem.hpp"
#include "spectral/alpha.hpp"

namespace pibinn {

/// Keeps weights in the set that the theory asks for: alpha_k = max over the supports of the
/// training set of ||delta I - W_S^T A_S|| (and mu_k s more for `soft`) at most a target. A penalty
/// moves signs there while they are trained; a projection of the scale ends every epoch.
class CertifiedSet {
public:
    /// Refuses training sets of too many supports and structures whose links are no blocks.
    CertifiedSet(const Problem& problem, const NetworkSpec& spec);

    /// Adds `weight` times the gradient of max(0, alpha_k - target) of every layer.
    void add_penalty(const ParameterStore& weights, double target, double weight,
                     ParameterStore& gradient) const;

    /// The factor nearest to 1 that brings alpha of all layers down to the target. Where none does
    /// (at delta = 1 weights may point the wrong way at any scale) 1: that is for the penalty.
    double factor(const ParameterStore& weights, double target) const;
    /// The same for one layer, from 1.
    double factor(const ParameterStore& weights, std::size_t layer, double target) const;

    /// For a layer that no factor brings down: flips signs, each time the one that makes alpha fall
    /// most as the factor leaves 0, until a factor does, or nothing helps. For kinds that store
    /// signs: flips those of `latent` too.
    void flip_signs(std::size_t layer, double target, ParameterStore& weights,
                    ParameterStore& latent) const;

    double alpha(const ParameterStore& weights) const;

private:
    struct Place {
        Block block;
        std::vector<std::uint32_t> entries;  ///< of the block
        auto operator<=>(const Place& o) const {
            return std::pair(block.first_link, entries) <=>
                   std::pair(o.block.first_link, o.entries);
        }
    };
    /// The link of row i of column entries[j].
    static std::size_t link(const Place& place, std::size_t i, std::size_t j);
    Eigen::MatrixXd columns(const Place& place, std::span<const float> links) const;
    AlphaTerms terms(std::span<const float> weights) const;
    double factor(const std::vector<AlphaTerms>& layers, double target) const;
    /// The least eigenvalue of the symmetric part of W_S^T A_S over all supports.
    struct MinEigenpair {
        std::size_t place = 0;
        double least = 0;
        Eigen::VectorXd q;
    };
    MinEigenpair min_eigenpair(const AlphaTerms& terms) const;
    void add_coherence(std::span<const float> weights, double weight,
                       std::span<float> gradient) const;

    NetworkSpec spec_;
    WeightSet set_ = WeightSet::hard;
    Operator op_;
    std::vector<Place> places_;
    std::vector<Eigen::MatrixXd> a_;  ///< A_S of every place
    std::size_t largest_ = 0;
};

}  // namespace pibinn
