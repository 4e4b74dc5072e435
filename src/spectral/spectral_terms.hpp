#pragma once

#include <cstdint>
#include <vector>

#include "pibinn/error_bound.hpp"
#include "pibinn/thread_pool.hpp"
#include "spectral/block_network.hpp"

namespace pibinn {

/// Where a part of a signal is not zero: entries of one block, ascending.
struct Support {
    std::size_t block = 0;
    std::vector<std::uint32_t> entries;
    auto operator<=>(const Support&) const = default;
};

/// delta I - W_S^T A_S of one layer, from 0, on one support.
Eigen::MatrixXd step_on_support(const BlockNetwork& network, std::size_t layer,
                                const Support& support);

/// Suprema over supports, and where f_k takes its own.
struct SpectralTerms {
    std::vector<LayerTerms> layers;
    std::vector<std::size_t> worst;  ///< a layer: index of the support with the largest f_k
    double operator_norm = 0;        ///< sup ||A_S||_2
    double r = 0, L = 0;             ///< least and largest eigenvalue of Q = A_S^T A_S over all S
    double diagonal_gap = 0;         ///< max |W_i^T A_i - 1| over all i and layers: Definition 1
    bool outside = false;            ///< some entry lies outside of some support
};

SpectralTerms spectral_terms(const std::vector<BlockNetwork>& networks,
                             const std::vector<Support>& supports, ThreadPool& pool);

/// Upper bounds of the same suprema that hold for *all* supports of up to s entries, seen or not
/// (`worst`, r and L are left out). Norms of s x s parts are bounded by row and column sums of the
/// s largest entries of the whole, by its s largest rows, and by its norm: the least of the three.
SpectralTerms terms_of_all_supports(const std::vector<BlockNetwork>& networks, std::size_t s);

}  // namespace pibinn
