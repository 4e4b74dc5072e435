#pragma once

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <Eigen/Dense>

#include "pibinn/lasso.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/random.hpp"

namespace pibinn::testing {

inline Eigen::MatrixXd to_eigen(const Matrix<float>& a) {
    Eigen::MatrixXd out(a.rows(), a.cols());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.cols(); ++j) out(i, j) = a(i, j);
    return out;
}

inline Batch from_eigen(const Eigen::MatrixXd& a) {
    Batch out(a.rows(), a.cols());
    for (std::size_t i = 0; i < out.rows(); ++i)
        for (std::size_t j = 0; j < out.cols(); ++j) out(i, j) = static_cast<float>(a(i, j));
    return out;
}

inline Batch normal_batch(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    Batch b(rows, cols);
    Stream stream(seed, Purpose::tests);
    for (float& v : b.values()) v = static_cast<float>(stream.normal());
    return b;
}

inline Operator gaussian(const Structure& s, std::uint64_t seed) {
    return Operator::random(s, OperatorEnsemble::gaussian, seed);
}

inline Structure three_blocks() {
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{5, 9}, {4, 4}, {3, 7}};
    return Structure::blocks(shapes);
}

/// A pattern of about half the entries in which every row and column has a link.
inline Operator random_mask(std::size_t m, std::size_t n, std::uint64_t seed) {
    Matrix<float> a(m, n);
    Stream stream(seed, Purpose::tests, 7);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (stream.bernoulli(0.5) || i == j % m || j == i % n)
                a(i, j) = static_cast<float>(0.5 * stream.normal());
    return Operator::from_sparse(a);
}

/// One operator of every structure that is not plainly dense.
inline std::vector<Operator> structured_operators() {
    return {gaussian(Structure::repeated(5, 9, 3), 11), gaussian(three_blocks(), 12),
            random_mask(11, 17, 13)};
}

/// Sparse signals with entries well away from zero, so that supports are beyond doubt.
inline Batch clear_signals(std::size_t count, std::size_t n, double density, std::uint64_t seed) {
    Batch x(count, n);
    Stream stream(seed, Purpose::tests, 3);
    for (float& v : x.values())
        if (stream.bernoulli(density))
            v = static_cast<float>((stream.bernoulli(0.5) ? 1 : -1) * (1 + stream.uniform()));
    return x;
}

inline double max_abs_difference(const Batch& a, const Batch& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(double{a.data()[i]} - double{b.data()[i]}));
    return most;
}

inline bool same_bytes(const Batch& a, const Batch& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() &&
           (a.size() == 0 || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

inline bool all_finite(const Batch& a) {
    for (float v : a.values())
        if (!std::isfinite(v)) return false;
    return true;
}

inline double nmse_db(const Batch& truth, const Batch& estimate) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < truth.rows(); ++i) {
        double error = 0, energy = 0;
        for (std::size_t j = 0; j < truth.cols(); ++j) {
            error += std::pow(double{estimate(i, j)} - truth(i, j), 2);
            energy += std::pow(double{truth(i, j)}, 2);
        }
        if (energy == 0) continue;
        sum += error / energy;
        ++count;
    }
    return 10 * std::log10(sum / count);
}

inline double energy_nmse_db(const Batch& truth, const Batch& estimate) {
    double error = 0, energy = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double off = double{estimate.data()[i]} - double{truth.data()[i]};
        error += off * off;
        energy += double{truth.data()[i]} * double{truth.data()[i]};
    }
    return 10 * std::log10(error / energy);
}

}  // namespace pibinn::testing
