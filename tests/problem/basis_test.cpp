#include "pibinn/basis.hpp"

#include <cmath>
#include <complex>
#include <numbers>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/random.hpp"
#include "problem/energy.hpp"

namespace pibinn {
namespace {

Batch random_rows(std::size_t rows, std::size_t cols) {
    Batch batch(rows, cols);
    Stream stream(3, Purpose::tests);
    for (float& v : batch.values()) v = static_cast<float>(stream.normal());
    return batch;
}

TEST(Basis, DctIsItsDefinition) {
    ThreadPool pool(1);
    const Batch s = random_rows(1, 12);
    const Batch c = Basis::named(BasisKind::dct, 12).to_coefficients(s, pool);
    for (std::size_t k = 0; k < 12; ++k) {
        double sum = 0;
        for (std::size_t i = 0; i < 12; ++i)
            sum += s(0, i) * std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) *
                                      static_cast<double>(k) / 12);
        EXPECT_NEAR(c(0, k), sum * std::sqrt((k == 0 ? 1.0 : 2.0) / 12), 1e-6) << k;
    }
}

TEST(Basis, Dct2IsTheDctOfRowsAndOfColumns) {
    ThreadPool pool(1);
    const Batch patch = random_rows(1, 64);
    const Basis line = Basis::named(BasisKind::dct, 8);
    const auto transposed = [](const Batch& square) {
        Batch t(8, 8);
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t j = 0; j < 8; ++j) t(j, i) = square(i, j);
        return t;
    };
    Batch square(8, 8);
    std::copy(patch.values().begin(), patch.values().end(), square.data());
    const Batch expected =
        transposed(line.to_coefficients(transposed(line.to_coefficients(square, pool)), pool));
    const Batch c = Basis::named(BasisKind::dct2, 64).to_coefficients(patch, pool);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(c(0, i), expected.data()[i], 1e-5) << i;
}

TEST(Basis, FourierIsTheUnitaryTransform) {
    ThreadPool pool(1);
    using Complex = std::complex<double>;
    for (const std::size_t n : {1, 2, 7, 12, 16, 31}) {
        const Batch s = random_rows(2, 2 * n);
        const Basis basis = Basis::named(BasisKind::fourier, n);
        EXPECT_TRUE(basis.is_complex());
        EXPECT_EQ(basis.length(), 2 * n);
        const Batch c = basis.to_coefficients(s, pool);
        for (std::size_t i = 0; i < 2; ++i)
            for (std::size_t k = 0; k < n; ++k) {
                Complex sum = 0;
                for (std::size_t j = 0; j < n; ++j)
                    sum += Complex(s(i, j), s(i, n + j)) *
                           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k) /
                                               static_cast<double>(n));
                sum /= std::sqrt(static_cast<double>(n));
                EXPECT_NEAR(c(i, k), sum.real(), 1e-6) << n << " " << k;
                EXPECT_NEAR(c(i, n + k), sum.imag(), 1e-6) << n << " " << k;
            }
    }
}

TEST(Basis, OfRealNumbersDoesTheSameToEveryRunOfARow) {
    ThreadPool pool(1);
    const Basis basis = Basis::named(BasisKind::dct, 5);
    const Batch rows = random_rows(3, 20);
    const Batch together = basis.to_coefficients(rows, pool);
    for (std::size_t at = 0; at < 20; at += 5) {
        Batch run(3, 5);
        for (std::size_t i = 0; i < 3; ++i)
            std::copy_n(rows.row(i).begin() + static_cast<std::ptrdiff_t>(at), 5,
                        run.row(i).begin());
        const Batch alone = basis.to_coefficients(run, pool);
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(together(i, at + j), alone(i, j));
    }
}

class EveryBasis : public ::testing::TestWithParam<std::pair<BasisKind, std::size_t>> {};

TEST_P(EveryBasis, KeepsEnergyAndComesBack) {
    ThreadPool pool(2);
    const auto [kind, n] = GetParam();
    const Basis basis = Basis::named(kind, n);
    const Batch s = random_rows(20, basis.is_identity() ? n : basis.length());
    const Batch c = basis.to_coefficients(s, pool);
    const Batch back = basis.to_signals(c, pool);
    EXPECT_NEAR(energy(c.values()) / energy(s.values()), 1, 1e-6);
    for (std::size_t i = 0; i < s.size(); ++i) ASSERT_NEAR(back.data()[i], s.data()[i], 1e-5);
    EXPECT_EQ(kind == BasisKind::identity || n == 1, c == s);
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryBasis,
                         ::testing::Values(std::pair{BasisKind::identity, std::size_t{7}},
                                           std::pair{BasisKind::dct, std::size_t{512}},
                                           std::pair{BasisKind::dct, std::size_t{1}},
                                           std::pair{BasisKind::fourier, std::size_t{1}},
                                           std::pair{BasisKind::fourier, std::size_t{96}},
                                           std::pair{BasisKind::fourier, std::size_t{101}},
                                           std::pair{BasisKind::dct2, std::size_t{64}},
                                           std::pair{BasisKind::dct2, std::size_t{25}}));

TEST(Basis, AMatrixIsTakenByItsColumns) {
    ThreadPool pool(1);
    Matrix<float> psi(2, 2);
    const float r = std::sqrt(0.5F);
    psi(0, 0) = r;
    psi(1, 0) = r;
    psi(0, 1) = r;
    psi(1, 1) = -r;
    const Basis basis = Basis::from_matrix(psi, "psi.npy");
    Batch c(1, 2);
    c(0, 0) = 1;
    c(0, 1) = 3;
    const Batch s = basis.to_signals(c, pool);
    EXPECT_NEAR(s(0, 0), 4 * r, 1e-6);
    EXPECT_NEAR(s(0, 1), -2 * r, 1e-6);
    EXPECT_NEAR(basis.to_coefficients(s, pool)(0, 1), 3, 1e-5);
}

TEST(Basis, NamesAreThoseThatAreRegistered) {
    EXPECT_EQ(basis_names(), (std::vector<std::string_view>{"identity", "dct", "dct2", "fourier"}));
    for (const std::string_view name : basis_names()) {
        EXPECT_EQ(to_string(parse_basis_kind(name)), name);
        EXPECT_EQ(to_string(parse_named_basis(name)), name);
    }
    EXPECT_EQ(parse_basis_kind("matrix"), BasisKind::matrix);
    EXPECT_THROW(parse_named_basis("matrix"), Error);
    EXPECT_THROW(parse_basis_kind("dct3"), Error);
}

TEST(Basis, RowsOfAnotherLengthAreTheCallersMistake) {
    ThreadPool pool(1);
    try {
        Basis::named(BasisKind::dct, 8).to_signals(Batch(2, 7), pool);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_EQ(error.message(), "rows of 7 numbers do not fit a basis of 8");
    }
    EXPECT_THROW(Basis::named(BasisKind::matrix, 8), Error);
}

TEST(Basis, WhatIsNotOrthonormalIsRefused) {
    Matrix<float> skew(2, 2);
    skew(0, 0) = skew(1, 1) = 1;
    skew(0, 1) = 0.1F;
    EXPECT_THROW(Basis::from_matrix(skew, "skew.npy"), Error);
    EXPECT_THROW(Basis::from_matrix(Matrix<float>(2, 3), "wide.npy"), Error);
    EXPECT_THROW(Basis::named(BasisKind::dct2, 60), Error);
}

}  // namespace
}  // namespace pibinn
