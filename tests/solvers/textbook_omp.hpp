#pragma once

#include <vector>

#include <Eigen/Dense>

#include "solvers/helpers.hpp"

namespace pibinn::testing {

inline Eigen::VectorXd least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& y,
                                     const std::vector<int>& support) {
    Eigen::MatrixXd chosen(a.rows(), support.size());
    for (std::size_t k = 0; k < support.size(); ++k) chosen.col(k) = a.col(support[k]);
    const Eigen::VectorXd c = chosen.colPivHouseholderQr().solve(y);
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    for (std::size_t k = 0; k < support.size(); ++k) x(support[k]) = c(k);
    return x;
}

/// OMP as a textbook writes it, in float64: a fresh least-squares fit for every column.
inline Eigen::VectorXd textbook_omp(const Eigen::MatrixXd& a, const Eigen::VectorXd& y,
                                    int sparsity) {
    std::vector<int> support;
    Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
    for (int k = 0; k < sparsity; ++k) {
        const Eigen::VectorXd score =
            ((a.transpose() * (y - a * x)).array().abs() / a.colwise().norm().transpose().array());
        int best = 0;
        score.maxCoeff(&best);
        support.push_back(best);
        x = least_squares(a, y, support);
    }
    return x;
}

}  // namespace pibinn::testing
