#include "spectral/spectral_norm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <Eigen/Eigenvalues>

#include "core/infinity.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// The value of the diagonal entry of row i and of the s - 1 largest other ones, summed.
template <class Value>
double largest_sum(const MatrixXd& m, Index i, std::size_t s, const Value& value) {
    std::vector<double> others;
    for (Index j = 0; j < m.cols(); ++j)
        if (j != i) others.push_back(value(m(i, j)));
    const std::size_t taken = std::min(s - 1, others.size());
    const auto end = others.begin() + static_cast<std::ptrdiff_t>(taken);
    std::nth_element(others.begin(), end, others.end(), std::greater<>());
    return value(m(i, i)) + std::accumulate(others.begin(), end, 0.0);
}

}  // namespace

double largest_eigenvalue(const MatrixXd& symmetric) {
    return Eigen::SelfAdjointEigenSolver<MatrixXd>(symmetric, Eigen::EigenvaluesOnly)
        .eigenvalues()
        .maxCoeff();
}

double spectral_norm(const Eigen::Ref<const MatrixXd>& matrix) {
    if (matrix.size() == 0) return 0;
    const MatrixXd square = matrix.transpose() * matrix;
    // What overflows is no small norm.
    if (!square.allFinite()) return kInfinity;
    return std::sqrt(std::max(0.0, largest_eigenvalue(square)));
}

double norm_of_any_submatrix(const MatrixXd& m, std::size_t s) {
    const auto absolute = [](double v) { return std::abs(v); };
    const auto square = [](double v) { return v * v; };
    const MatrixXd transposed = m.transpose();
    double row_sum = 0, column_sum = 0;
    std::vector<double> squares;
    for (Index i = 0; i < m.rows(); ++i) {
        row_sum = std::max(row_sum, largest_sum(m, i, s, absolute));
        column_sum = std::max(column_sum, largest_sum(transposed, i, s, absolute));
        squares.push_back(largest_sum(m, i, s, square));
    }
    std::sort(squares.begin(), squares.end(), std::greater<>());
    squares.resize(std::min(s, squares.size()));
    const double frobenius = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
    const double by_sums = std::min(std::sqrt(row_sum * column_sum), frobenius);
    // The norm of the whole is the dear one, and at least the length of each column.
    if (m.size() == 0 || by_sums <= m.colwise().norm().maxCoeff()) return by_sums;
    return std::min(by_sums, spectral_norm(m));
}

double row_sum_of_any_submatrix(const MatrixXd& m, std::size_t s) {
    double most = 0;
    for (Index i = 0; i < m.rows(); ++i)
        most = std::max(most, largest_sum(m, i, s, [](double v) { return std::abs(v); }));
    return most;
}

}  // namespace pibinn
