#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/contains.hpp"
#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/random.hpp"

// Complex signals in a basis, and several vectors per row, against products in float64.

namespace pibinn::complex_basis {
namespace {

using Complex = std::complex<double>;
using Table = Matrix<Complex>;

constexpr std::size_t kM = 4, kN = 9, kRows = 10;

Table drawn(std::size_t rows, std::size_t cols, bool complex, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Table a(rows, cols);
    for (Complex& v : a.values()) {
        const double re = stream.normal();
        v = {re, complex ? stream.normal() : 0.0};
    }
    return a;
}

/// Psi: one basis vector per column.
Table psi_of(BasisKind kind) {
    Table psi(kN, kN);
    const double n = kN, pi = std::numbers::pi;
    for (std::size_t j = 0; j < kN; ++j)
        for (std::size_t k = 0; k < kN; ++k) {
            const auto at = static_cast<double>(j), f = static_cast<double>(k);
            if (kind == BasisKind::fourier)
                psi(j, k) = std::polar(1 / std::sqrt(n), 2 * pi * at * f / n);
            else if (kind == BasisKind::dct)
                psi(j, k) = std::sqrt((k == 0 ? 1 : 2) / n) * std::cos(pi * (at + 0.5) * f / n);
            else  // a reflection
                psi(j, k) = (j == k ? 1 : 0) - 2 / n;
        }
    return psi;
}

Basis basis_of(BasisKind kind) {
    if (kind != BasisKind::matrix) return Basis::named(kind, kN);
    Matrix<float> psi(kN, kN);
    const Table table = psi_of(kind);
    for (std::size_t i = 0; i < psi.size(); ++i)
        psi.data()[i] = static_cast<float>(table.data()[i].real());
    return Basis::from_matrix(psi, "psi");
}

/// Every vector of every row through A.
Table through(const Table& a, const Table& x) {
    const std::size_t vectors = x.cols() / a.cols();
    Table y(x.rows(), vectors * a.rows());
    for (std::size_t r = 0; r < x.rows(); ++r)
        for (std::size_t v = 0; v < vectors; ++v)
            for (std::size_t i = 0; i < a.rows(); ++i)
                for (std::size_t j = 0; j < a.cols(); ++j)
                    y(r, v * a.rows() + i) += a(i, j) * x(r, v * a.cols() + j);
    return y;
}

Matrix<double> real_of(const Table& a) {
    Matrix<double> re(a.rows(), a.cols());
    for (std::size_t i = 0; i < a.size(); ++i) re.data()[i] = a.data()[i].real();
    return re;
}

UserArray array_of(const Table& x, bool complex) {
    return complex ? UserArray(x) : UserArray(real_of(x));
}

/// Rows of a batch against complex numbers, from row `first` of these on.
void expect_rows(const Batch& rows, const RowLayout& layout, const Table& expected,
                 std::size_t first, const std::string& what) {
    ASSERT_EQ(layout.entries(rows.cols()), expected.cols()) << what;
    const std::size_t n = expected.cols() / layout.vectors;
    for (std::size_t i = 0; i < rows.rows(); ++i)
        for (std::size_t e = 0; e < expected.cols(); ++e) {
            const std::size_t at = e / n * n * (layout.complex ? 2 : 1) + e % n;
            const Complex found{rows(i, at), layout.complex ? rows(i, at + n) : 0.0F};
            ASSERT_LT(std::abs(found - expected(first + i, e)), 2e-5) << what << ", row " << i;
        }
}

Table adjoint(const Table& a) {
    Table b(a.cols(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.cols(); ++j) b(j, i) = std::conj(a(i, j));
    return b;
}

struct Signals {
    bool complex_a, complex_x;
    std::size_t vectors;
};

ArrayProblem problem_of(const Signals& s, const Table& a, const Table& x, BasisKind kind) {
    ArrayProblem arrays;
    arrays.op = s.complex_a ? Operator::from_complex(UserArray(a)) : Operator(real_of(a));
    arrays.x = array_of(x, s.complex_x);
    arrays.vectors = s.vectors;
    arrays.basis = basis_of(kind);
    arrays.basis_name = to_string(kind);
    return arrays;
}

TEST(ComplexBasis, CoefficientsGiveTheSignalsAndTheirMeasurements) {
    ThreadPool pool(1);
    for (const BasisKind kind : {BasisKind::dct, BasisKind::matrix, BasisKind::fourier})
        for (const Signals& s :
             {Signals{true, true, 1}, Signals{true, true, 3}, Signals{false, true, 1},
              Signals{false, true, 2}, Signals{true, false, 1}, Signals{false, false, 3}}) {
            if (kind == BasisKind::fourier && !s.complex_x) continue;
            const std::string what =
                fmt::format("{} {} {} {}", to_string(kind), s.complex_a, s.complex_x, s.vectors);
            const Table a = drawn(kM, kN, s.complex_a, 1);
            const Table x = drawn(kRows, s.vectors * kN, s.complex_x, 2);
            for (const bool given : {false, true}) {
                ArrayProblem arrays = problem_of(s, a, x, kind);
                const Table y = through(a, x);
                if (given) arrays.y = array_of(y, s.complex_a || s.complex_x);
                const Problem problem = Problem::from_arrays(arrays, pool);
                const SignalDomain& domain = problem.domain;
                const Table c = through(adjoint(psi_of(kind)), x);
                std::size_t first = 0;
                for (const DataSet* set : {&problem.train, &problem.test}) {
                    expect_rows(set->x, domain.signal_rows(), c, first, what + ", coefficients");
                    expect_rows(domain.to_signals(set->x, pool), domain.signal_rows(), x, first,
                                what + ", signals");
                    expect_rows(set->y, domain.measurement_rows(), y, first, what + ", given");
                    expect_rows(problem.op.apply(set->x, pool), domain.measurement_rows(), y, first,
                                what + ", measured");
                    first += set->x.rows();
                }
                EXPECT_EQ(first, kRows);
                EXPECT_TRUE(problem.warnings.empty()) << what;
                // A basis of complex numbers makes a complex operator of any.
                EXPECT_EQ(problem.op.structure().is_complex(),
                          s.complex_x && (s.complex_a || kind == BasisKind::fourier))
                    << what;
            }
        }
}

template <class Change>
Error refusal(BasisKind kind, const Signals& s, const Change& change) {
    ThreadPool pool(1);
    ArrayProblem arrays = problem_of(s, drawn(kM, kN, s.complex_a, 1),
                                     drawn(kRows, s.vectors * kN, s.complex_x, 2), kind);
    change(arrays);
    try {
        Problem::from_arrays(arrays, pool);
    } catch (const Error& error) {
        return error;
    }
    return Error(ErrorKind::internal, "nothing was refused");
}

TEST(ComplexBasis, ThatDoesNotFitIsRefused) {
    const auto as_it_is = [](ArrayProblem&) {};
    for (const bool complex_a : {false, true}) {
        const Error real = refusal(BasisKind::fourier, {complex_a, false, 1}, as_it_is);
        EXPECT_EQ(real.kind(), ErrorKind::input) << real.what();
        EXPECT_TRUE(contains(real.message(), "basis 'fourier' is of complex signals"))
            << real.what();
    }
    for (const BasisKind kind : {BasisKind::dct, BasisKind::fourier})
        for (const std::size_t n : {kN - 1, 2 * kN, 4 * kN}) {
            const Error length = refusal(kind, {true, true, 2}, [&](ArrayProblem& arrays) {
                arrays.basis = Basis::named(kind, n);
            });
            EXPECT_EQ(length.kind(), ErrorKind::usage) << length.what();
            EXPECT_TRUE(contains(length.message(), "ArrayProblem::basis")) << length.what();
        }
    const Error mask = refusal(BasisKind::fourier, {true, true, 1}, [](ArrayProblem& arrays) {
        arrays.op = Operator::from_complex_sparse(UserArray(drawn(kM, kN, true, 1)));
    });
    EXPECT_TRUE(contains(mask.message(), "mixes what a structure of mask keeps apart"))
        << mask.what();
}

}  // namespace
}  // namespace pibinn::complex_basis
