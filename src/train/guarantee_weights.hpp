#pragma once

#include <cstdint>
#include <vector>

#include "pibinn/network_spec.hpp"
#include "pibinn/thread_pool.hpp"
#include "spectral/block_network.hpp"

namespace pibinn {

/// The columns that disturb others in a block: all entries that a signal of the class may have.
using Disturbers = std::vector<Eigen::Index>;

/// Weights of a kind, of layer 0 .. K - 1, that keep entries of the class apart: W_i^T A_j near 1
/// for i = j and near 0 for every other j that may be in a signal. `reach` in (0, 1] is how much of
/// the longest possible W_i^T A_i signs should have: more of it leaves fewer signs to choose.
std::vector<Eigen::MatrixXd> guarantee_weights(const Eigen::MatrixXd& A,
                                               const Disturbers& disturbers,
                                               const NetworkSpec& spec, double reach,
                                               std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
