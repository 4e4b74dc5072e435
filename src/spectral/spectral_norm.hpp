#pragma once

#include <cstddef>

#include <Eigen/Core>

namespace pibinn {

/// ||M||_2: the root of the largest eigenvalue of M^T M, exact to rounding. 0 for an empty matrix.
double spectral_norm(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

/// The largest eigenvalue of a symmetric matrix.
double largest_eigenvalue(const Eigen::MatrixXd& symmetric);

/// An upper bound of the norm of every s x s principal submatrix of a square matrix, s >= 1. It is
/// the least of three: row and column sums of the s largest entries, the s largest rows, and the
/// norm of the whole.
double norm_of_any_submatrix(const Eigen::MatrixXd& matrix, std::size_t s);

/// The largest sum of |entries| that a row of any s x s principal submatrix can have, s >= 1.
double row_sum_of_any_submatrix(const Eigen::MatrixXd& matrix, std::size_t s);

}  // namespace pibinn
