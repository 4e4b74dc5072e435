#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include <Eigen/Dense>

#include "pibinn/grouping.hpp"
#include "solvers/helpers.hpp"

namespace pibinn::testing {

// The solvers as textbooks write them, in float64 and complex numbers. A signal is a matrix with a
// column per vector; the entries of a row are zero together.
using Complex = Eigen::MatrixXcd;

/// x times (1 - threshold / norm)_+, row by row.
inline Complex shrink_rows(const Complex& x, double threshold) {
    Complex out = Complex::Zero(x.rows(), x.cols());
    for (Eigen::Index j = 0; j < x.rows(); ++j)
        if (const double norm = x.row(j).norm(); norm > threshold)
            out.row(j) = (1 - threshold / norm) * x.row(j);
    return out;
}

inline Complex textbook_ista(const Complex& a, const Complex& y, double lambda, int iterations) {
    const double step = 1 / Eigen::JacobiSVD<Complex>(a).singularValues()(0) /
                        Eigen::JacobiSVD<Complex>(a).singularValues()(0);
    Complex x = Complex::Zero(a.cols(), y.cols());
    for (int k = 0; k < iterations; ++k)
        x = shrink_rows(x - step * a.adjoint() * (a * x - y), step * lambda);
    return x;
}

inline Complex least_squares_on(const Complex& a, const Complex& y, const std::vector<int>& on) {
    Complex chosen(a.rows(), on.size());
    for (std::size_t k = 0; k < on.size(); ++k) chosen.col(k) = a.col(on[k]);
    const Complex c = chosen.colPivHouseholderQr().solve(y);
    Complex x = Complex::Zero(a.cols(), y.cols());
    for (std::size_t k = 0; k < on.size(); ++k) x.row(on[k]) = c.row(k);
    return x;
}

inline Complex textbook_complex_omp(const Complex& a, const Complex& y, int sparsity) {
    std::vector<int> support;
    Complex x = Complex::Zero(a.cols(), y.cols());
    for (int k = 0; k < sparsity; ++k) {
        int best = 0;
        ((a.adjoint() * (y - a * x)).rowwise().norm().array() /
         a.colwise().norm().transpose().array())
            .maxCoeff(&best);
        support.push_back(best);
        x = least_squares_on(a, y, support);
    }
    return x;
}

/// Columns of norm 1. `density` 0 shrinks softly, otherwise non-zero rows are N(0, variance) in
/// each of their real numbers.
inline Complex textbook_complex_amp(const Complex& a, const Complex& y, double alpha,
                                    double density, double variance, int iterations) {
    Complex x = Complex::Zero(a.cols(), y.cols()), r = y;
    const double d = 2 * static_cast<double>(y.cols());
    const double numbers = 2 * static_cast<double>(y.size());
    for (int k = 0; k < iterations; ++k) {
        const double tau2 = r.squaredNorm() / numbers;
        const Complex v = x + a.adjoint() * r;
        double divergence = 0;
        for (Eigen::Index j = 0; j < v.rows(); ++j) {
            const double norm = v.row(j).norm();
            // How long the row becomes, by how long it is.
            const auto g = [&](double length) {
                if (density == 0) return std::max(0.0, length - alpha * std::sqrt(d * tau2));
                const auto law = [&](double s) {
                    return std::pow(s, -d / 2) * std::exp(-0.5 * length * length / s);
                };
                const double on = density * law(variance + tau2), off = (1 - density) * law(tau2);
                return on / (on + off) * variance / (variance + tau2) * length;
            };
            x.row(j) = g(norm) / norm * v.row(j);
            const double h = 1e-6 * norm;
            divergence += (g(norm + h) - g(norm - h)) / (2 * h) + (d - 1) * g(norm) / norm;
        }
        r = (y - a * x + divergence / numbers * r).eval();
    }
    return x;
}

inline Complex textbook_support_detection(const Complex& a, const Complex& y, int paths,
                                          int width) {
    const int n = static_cast<int>(a.cols());
    std::vector<bool> taken(n, false);
    Complex r = y;
    for (int l = 0; l < paths; ++l) {
        int peak = 0;
        (a.adjoint() * r).rowwise().norm().maxCoeff(&peak);
        std::vector<int> beams;
        for (int v = 0; v < width; ++v) beams.push_back((peak - width / 2 + v + n) % n);
        for (const int beam : beams) taken[beam] = true;
        r -= a * least_squares_on(a, r, beams);
    }
    std::vector<int> all;
    for (int j = 0; j < n; ++j)
        if (taken[j]) all.push_back(j);
    return least_squares_on(a, y, all);
}

/// A problem of complex signals in both ways of writing it.
struct ComplexCase {
    std::string name;
    Operator op;
    Complex a;
    std::size_t vectors = 1;
    Grouping grouping;

    /// Row i of a batch, a column per vector.
    Complex matrix(const Batch& rows, std::size_t i) const {
        const std::size_t n = rows.cols() / (2 * vectors);
        Complex out(n, vectors);
        for (std::size_t v = 0; v < vectors; ++v)
            for (std::size_t j = 0; j < n; ++j)
                out(j, v) = {rows(i, 2 * n * v + j), rows(i, 2 * n * v + n + j)};
        return out;
    }
    /// Measurements of sparse signals and noise.
    DataSet pairs(std::size_t count, std::size_t nonzeros, double noise, std::uint64_t seed) const {
        const std::size_t n = static_cast<std::size_t>(a.cols());
        DataSet set{Batch(count, op.cols()), {}};
        for (std::size_t i = 0; i < count; ++i) {
            Stream stream(seed, Purpose::tests, i);
            const auto places = stream.permutation(n);
            for (std::size_t k = 0; k < nonzeros; ++k)
                for (std::size_t part = 0; part < 2 * vectors; ++part)
                    set.x(i, part * n + places[k]) = static_cast<float>(stream.normal());
        }
        ThreadPool pool(1);
        set.y = op.apply(set.x, pool);
        add_noise(set.y, noise, seed, Purpose::test_noise, pool);
        return set;
    }
};

/// A complex operator, or a real one on both parts, with all its links as those of a mask.
inline Operator as_mask(const Operator& op) {
    const bool complex = op.structure().is_complex();
    const std::size_t m = op.rows() / 2, n = op.cols() / 2;
    std::vector<std::uint32_t> offsets{0}, rows;
    for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t i = 0; i < m; ++i) rows.push_back(static_cast<std::uint32_t>(i));
        offsets.push_back(static_cast<std::uint32_t>(rows.size()));
    }
    AlignedBuffer<float> values(op.values().begin(), op.values().end());
    if (!complex) values.insert(values.end(), op.values().begin(), op.values().end());
    return {Structure::complex_mask(Structure::mask(m, n, offsets, rows), complex),
            std::move(values)};
}

/// Real operators on complex vectors and complex ones, for one vector and for several.
inline std::vector<ComplexCase> complex_cases(std::size_t m, std::size_t n) {
    std::vector<ComplexCase> cases;
    for (const std::size_t vectors : {1u, 3u})
        for (const bool complex : {false, true}) {
            Complex a = Complex::Zero(m, n);
            Stream stream(vectors + 10 * complex, Purpose::tests, 77);
            Matrix<float> re(m, n), im(m, n);
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t i = 0; i < m; ++i)
                    a(i, j) = {stream.normal(), complex ? stream.normal() : 0.0};
                a.col(j).normalize();
                for (std::size_t i = 0; i < m; ++i) {
                    re(i, j) = static_cast<float>(a(i, j).real());
                    im(i, j) = static_cast<float>(a(i, j).imag());
                    a(i, j) = {re(i, j), im(i, j)};
                }
            }
            const std::size_t rows = complex ? vectors : 2 * vectors;
            const Operator block = Operator::from_dense(re);
            Operator op = complex ? Operator::from_complex(re, im, vectors)
                                  : Operator(Structure::repeated(m, n, rows),
                                             {block.values().begin(), block.values().end()});
            const std::string name = std::to_string(vectors) + (complex ? " complex" : " real");
            if (vectors == 1) cases.push_back({name + " mask", as_mask(op), a, 1, {1, 2}});
            cases.push_back(
                {name, std::move(op), std::move(a), vectors, {rows, complex ? 2u : 1u}});
        }
    return cases;
}

/// Recovered rows are those of the textbook.
template <class Textbook>
void expect_textbook(const ComplexCase& c, const Batch& x, const Batch& y, double tolerance,
                     const Textbook& textbook) {
    for (std::size_t i = 0; i < y.rows(); ++i) {
        const Complex expected = textbook(c.matrix(y, i));
        EXPECT_LE((c.matrix(x, i) - expected).norm(), tolerance * (1 + expected.norm()))
            << c.name << ", row " << i;
    }
}

}  // namespace pibinn::testing
