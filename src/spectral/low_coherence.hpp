#pragma once

#include <vector>

#include <Eigen/Core>

namespace pibinn {

/// W with W_j^T A_j = 1 and the least largest |W_j^T A_i|, i != j: the weights of ALISTA, by the
/// alternating direction method of multipliers. A must have full row rank.
Eigen::MatrixXd low_coherence_weights(const Eigen::MatrixXd& A, int iterations = 80);

/// W with W_j^T A_i = 1 for i = j and 0 for all other i of `entries`, for no more entries than A
/// has rows. Columns outside of them are A's own, made orthogonal to those of the entries, and no
/// longer than the longest of these.
Eigen::MatrixXd dual_weights(const Eigen::MatrixXd& A, const std::vector<Eigen::Index>& entries);

}  // namespace pibinn
