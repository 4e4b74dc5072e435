#include "spectral/low_coherence.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <Eigen/Cholesky>

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Of the sum of all |entries| of a column: what a step of the method may cut off. 0.02 to 0.1 end
// within 1 % of each other.
constexpr double kCut = 0.05;

/// The level at which to clip |v| so that what is cut off sums up to `amount`.
double clip_level(std::vector<double>& sizes, double amount) {
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    double sum = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        sum += sizes[i];
        const double level = (sum - amount) / static_cast<double>(i + 1);
        if (i + 1 == sizes.size() || level >= sizes[i + 1]) return std::max(level, 0.0);
    }
    return 0;
}

/// The largest |entry| off the diagonal of every column.
VectorXd peaks(MatrixXd gram) {
    gram.diagonal().setZero();
    return gram.cwiseAbs().colwise().maxCoeff();
}

}  // namespace

MatrixXd low_coherence_weights(const MatrixXd& A, int iterations) {
    const MatrixXd pa = (A * A.transpose()).llt().solve(A);
    const VectorXd own = A.cwiseProduct(pa).colwise().sum();
    // The nearest of all W with A^T W = q that has a unit diagonal.
    const auto fit = [&](const MatrixXd& q) {
        MatrixXd w = pa * q;
        const VectorXd diagonal = A.cwiseProduct(w).colwise().sum();
        w += pa * ((1 - diagonal.array()) / own.array()).matrix().asDiagonal();
        return w;
    };
    MatrixXd w = fit(MatrixXd::Identity(A.cols(), A.cols()));
    MatrixXd v = A.transpose() * w, best = w, y = MatrixXd::Zero(v.rows(), v.cols()), z = v;
    VectorXd least = peaks(v);
    const VectorXd amount = kCut * (v.cwiseAbs().colwise().sum().array() - 1);
    std::vector<double> sizes;
    for (int step = 0; step < iterations; ++step) {
        z = v + y;
        for (Index j = 0; j < z.cols(); ++j) {
            sizes.clear();
            for (Index i = 0; i < z.rows(); ++i)
                if (i != j) sizes.push_back(std::abs(z(i, j)));
            const double level = clip_level(sizes, amount[j]);
            z.col(j) = z.col(j).cwiseMax(-level).cwiseMin(level);
            z(j, j) = 1;
        }
        y += v - z;
        y.diagonal().setZero();
        w = fit(z - y);
        v = A.transpose() * w;
        const VectorXd now = peaks(v);
        for (Index j = 0; j < w.cols(); ++j)
            if (now[j] < least[j]) {
                least[j] = now[j];
                best.col(j) = w.col(j);
            }
    }
    return best;
}

MatrixXd dual_weights(const MatrixXd& A, const std::vector<Index>& entries) {
    const MatrixXd a = A(Eigen::all, entries);
    const MatrixXd dual = (a.transpose() * a).ldlt().solve(a.transpose()).transpose();
    MatrixXd w = A - dual * (a.transpose() * A);
    const double longest = dual.colwise().norm().maxCoeff();
    for (Index j = 0; j < w.cols(); ++j) {
        const double square = w.col(j).squaredNorm();
        if (square > 0) w.col(j) *= std::min(1 / square, longest / std::sqrt(square));
    }
    w(Eigen::all, entries) = dual;
    return w;
}

}  // namespace pibinn
