#pragma once

#include <Eigen/Core>

#include "pibinn/random.hpp"

namespace pibinn {

/// Signs w for which A^T w is near `target` in length, for few columns: m bits against u
/// conditions. Single signs and pairs are flipped as long as that helps, from `starts` random
/// beginnings of which the best is taken.
Eigen::VectorXd search_signs(const Eigen::MatrixXd& A, const Eigen::VectorXd& target,
                             std::size_t starts, Stream& stream);

/// The same where columns are too many for all of them to be met: the largest entries of A^T w -
/// target count, by their eighth power. Starts from given signs and flips single ones.
Eigen::VectorXd flatten_signs(const Eigen::MatrixXd& A, const Eigen::VectorXd& target,
                              Eigen::VectorXd start);

}  // namespace pibinn
