#pragma once

#include <Eigen/Core>

namespace pibinn {

/// delta I - scale G with G = W_S^T A_S: what one layer makes of the error on the support S.
inline Eigen::MatrixXd step_matrix(const Eigen::Ref<const Eigen::MatrixXd>& gram, double delta,
                                   double scale = 1) {
    Eigen::MatrixXd step = -scale * gram;
    step.diagonal().array() += delta;
    return step;
}

/// G[S, S], the rows and columns `entries` of a square matrix.
template <class Derived, class Entries>
Eigen::MatrixXd submatrix(const Eigen::MatrixBase<Derived>& from, const Entries& entries) {
    return from.derived()(entries, entries);
}

}  // namespace pibinn
