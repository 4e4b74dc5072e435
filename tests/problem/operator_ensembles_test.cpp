#include <cmath>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/real_problem.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "problem/units.hpp"

// Drawn operators against their definitions in float64.

namespace pibinn {
namespace {

using Shape = std::pair<std::size_t, std::size_t>;
using Row = std::vector<double>;

constexpr double kPi = std::numbers::pi;

Error refusal(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    ADD_FAILURE() << "accepted";
    return Error(ErrorKind::internal, "");
}

Operator drawn(OperatorEnsemble ensemble, std::size_t m, std::size_t n, std::uint64_t seed = 3) {
    return Operator::random(Structure::dense(m, n), ensemble, seed);
}

/// H_1 = (1), H_2k = (H_k H_k; H_k -H_k).
std::vector<Row> sylvester(std::size_t order) {
    std::vector<Row> h{{1}};
    while (h.size() < order) {
        const std::size_t k = h.size();
        std::vector<Row> next(2 * k, Row(2 * k));
        for (std::size_t i = 0; i < 2 * k; ++i)
            for (std::size_t j = 0; j < 2 * k; ++j)
                next[i][j] = (i >= k && j >= k ? -1 : 1) * h[i % k][j % k];
        h = std::move(next);
    }
    return h;
}

std::vector<Row> cosine_rows(std::size_t n) {
    std::vector<Row> rows(n, Row(n));
    const auto length = static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j)
            rows[k][j] = std::sqrt((k == 0 ? 1 : 2) / length) *
                         std::cos(kPi * (2.0 * static_cast<double>(j) + 1) *
                                  static_cast<double>(k) / (2 * length));
    return rows;
}

std::vector<Row> fourier_rows(std::size_t n) {
    std::vector<Row> rows;
    const auto length = static_cast<double>(n);
    for (std::size_t f = 0; 2 * f <= n; ++f) {
        const bool alone = f == 0 || 2 * f == n;
        const double norm = std::sqrt((alone ? 1 : 2) / length);
        Row cosine(n), sine(n);
        for (std::size_t j = 0; j < n; ++j) {
            const double angle = 2 * kPi * static_cast<double>(f * j) / length;
            cosine[j] = norm * std::cos(angle);
            sine[j] = norm * std::sin(angle);
        }
        rows.push_back(cosine);
        if (!alone) rows.push_back(sine);
    }
    return rows;
}

/// Every row of the operator is one of these, times `scale` and the same sign in every column, and
/// none is there twice.
void expect_rows(const Operator& op, const std::vector<Row>& rows, double scale) {
    const OperatorFormula* formula = op.formula();
    ASSERT_NE(formula, nullptr);
    const BlockFormula& f = formula->parts.at(0);
    const Matrix<float> a = op.to_dense();
    ASSERT_EQ(f.rows.size(), a.rows());
    EXPECT_EQ(std::set<std::uint32_t>(f.rows.begin(), f.rows.end()).size(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i)
        for (std::size_t j = 0; j < a.cols(); ++j) {
            const double sign = !f.flipped.empty() && f.flipped[j] ? -1 : 1;
            ASSERT_NEAR(a(i, j), scale * sign * rows.at(f.rows[i])[j], 2e-6)
                << i << ", " << j << " of " << a.rows() << " x " << a.cols();
        }
}

const std::vector<Shape> kShapes{{1, 1},   {1, 7},   {3, 5},   {5, 5},   {6, 6},    {7, 13},
                                 {16, 16}, {20, 33}, {24, 48}, {31, 32}, {50, 100}, {61, 61}};

TEST(Ensembles, GaussianUnitIsGaussianWithColumnsOfNormOne) {
    const Matrix<float> plain = drawn(OperatorEnsemble::gaussian, 20, 33).to_dense();
    const Matrix<float> unit = drawn(OperatorEnsemble::gaussian_unit, 20, 33).to_dense();
    for (std::size_t j = 0; j < 33; ++j) {
        double before = 0, after = 0;
        for (std::size_t i = 0; i < 20; ++i) {
            before += double{plain(i, j)} * plain(i, j);
            after += double{unit(i, j)} * unit(i, j);
        }
        EXPECT_NEAR(after, 1, 1e-6);
        for (std::size_t i = 0; i < 20; ++i)
            EXPECT_NEAR(unit(i, j), plain(i, j) / std::sqrt(before), 1e-6);
    }
}

TEST(Ensembles, HadamardTakesRowsOfSylvestersMatrixWithRandomSigns) {
    for (const auto& [m, n] : kShapes) {
        std::size_t order = 1;
        while (order < n) order *= 2;
        const Operator op = drawn(OperatorEnsemble::hadamard, m, n);
        expect_rows(op, sylvester(order), 1 / std::sqrt(static_cast<double>(m)));
        EXPECT_TRUE(op.is_sign());
        EXPECT_EQ(op.formula()->parts[0].flipped.size(), n);
    }
    // More rows than columns are there, up to the order of the matrix.
    expect_rows(drawn(OperatorEnsemble::hadamard, 8, 5), sylvester(8), 1 / std::sqrt(8.0));
}

TEST(Ensembles, DctTakesRowsOfTheOrthonormalTransform) {
    for (const auto& [m, n] : kShapes) {
        const double scale = std::sqrt(static_cast<double>(n) / static_cast<double>(m));
        expect_rows(drawn(OperatorEnsemble::dct, m, n), cosine_rows(n), scale);
    }
}

TEST(Ensembles, FourierTakesCosinesAndSinesOfRandomFrequencies) {
    for (const auto& [m, n] : kShapes) {
        const double scale = std::sqrt(static_cast<double>(n) / static_cast<double>(m));
        const Operator op = drawn(OperatorEnsemble::fourier, m, n);
        expect_rows(op, fourier_rows(n), scale);
        // All frequencies but one have all their rows.
        const auto& rows = op.formula()->parts[0].rows;
        std::size_t halves = 0;
        for (std::uint32_t f = 1; 2 * f < n; ++f)
            halves += std::count(rows.begin(), rows.end(), 2 * f - 1) !=
                      std::count(rows.begin(), rows.end(), 2 * f);
        EXPECT_LE(halves, 1u) << m << " x " << n;
    }
}

TEST(Ensembles, BernoulliIsZeroOrOneNumberAndNoColumnIsEmpty) {
    for (const auto& [m, n] : std::vector<Shape>{{1, 1}, {1, 40}, {2, 300}, {50, 100}, {7, 3}}) {
        const Operator op = drawn(OperatorEnsemble::bernoulli, m, n);
        const auto rows = static_cast<double>(m);
        const auto c = static_cast<float>(1 / std::sqrt(rows / 2 + std::exp2(-rows)));
        const Matrix<float> a = op.to_dense();
        std::size_t ones = 0;
        for (std::size_t j = 0; j < n; ++j) {
            std::size_t here = 0;
            for (std::size_t i = 0; i < m; ++i) {
                ASSERT_TRUE(a(i, j) == 0.0F || a(i, j) == c);
                here += a(i, j) != 0;
            }
            EXPECT_GE(here, 1u);
            ones += here;
        }
        if (m > 1) {
            EXPECT_TRUE(op.is_zero_one());
            EXPECT_NEAR(static_cast<double>(ones) / static_cast<double>(m * n), 0.5,
                        m == 2 ? 0.2 : 0.15);
        }
    }
    EXPECT_TRUE(drawn(OperatorEnsemble::bernoulli, 1, 1).is_sign()) << "the one entry is a one";
}

TEST(Ensembles, BinarySparseHasItsOnesInEveryColumnAndNoEmptyRow) {
    SyntheticSpec spec;
    spec.ensemble = OperatorEnsemble::binary_sparse;
    spec.train = spec.test = 1;
    ThreadPool pool(1);
    for (const auto& [m, n, ones] : std::vector<std::array<std::size_t, 3>>{
             {50, 100, 8}, {64, 16, 4}, {5, 5, 1}, {1, 1, 1}, {1, 9, 1}, {200, 25, 8}, {3, 4, 3}}) {
        spec.m = m;
        spec.n = n;
        spec.ones_per_column = ones;
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            const Operator op = make_synthetic(spec, seed, pool).op;
            EXPECT_EQ(op.structure().kind(), StructureKind::mask);
            EXPECT_EQ(op.structure().links(), ones * n);
            const auto offsets = op.structure().offsets();
            for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(offsets[j + 1] - offsets[j], ones);
            for (const float v : op.values())
                EXPECT_EQ(v, static_cast<float>(1 / std::sqrt(static_cast<double>(ones))));
        }
    }
    spec.m = 50;
    spec.n = 100;
    spec.ones_per_column.reset();
    EXPECT_EQ(make_synthetic(spec, 1, pool).op.structure().links(), 800u) << "8 by default";
    spec.m = 5;
    EXPECT_EQ(make_synthetic(spec, 1, pool).op.structure().links(), 500u) << "or all rows";
}

TEST(Ensembles, ColumnsHaveNormOne) {
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::gaussian, OperatorEnsemble::rademacher, OperatorEnsemble::hadamard,
          OperatorEnsemble::bernoulli, OperatorEnsemble::dct, OperatorEnsemble::fourier})
        for (const auto& [m, n] : std::vector<Shape>{{60, 120}, {100, 101}, {20, 400}}) {
            const double norm = column_norm(drawn(ensemble, m, n));
            const bool exact =
                ensemble != OperatorEnsemble::gaussian && ensemble != OperatorEnsemble::bernoulli;
            EXPECT_NEAR(norm, 1, exact ? 1e-6 : 0.04) << to_string(ensemble);
        }
}

TEST(Ensembles, BlocksAreDrawnOneByOneAndRepetitionsOnce) {
    const std::vector<Shape> shapes{{3, 5}, {6, 11}};
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::hadamard, OperatorEnsemble::dct, OperatorEnsemble::fourier}) {
        const Operator blocks = Operator::random(Structure::blocks(shapes), ensemble, 4);
        ASSERT_EQ(blocks.formula()->parts.size(), 2u);
        EXPECT_NEAR(column_norm(blocks), 1, 1e-6);
        const Operator repeated = Operator::random(Structure::repeated(3, 5, 4), ensemble, 4);
        ASSERT_EQ(repeated.formula()->parts.size(), 1u);
        // The first block and the repeated one come from the same numbers of the stream.
        EXPECT_EQ(repeated.formula()->parts[0], blocks.formula()->parts[0]);
        for (std::size_t l = 0; l < 15; ++l) EXPECT_EQ(repeated.values()[l], blocks.values()[l]);
    }
    EXPECT_TRUE(Operator::random(Structure::repeated(3, 5, 4), OperatorEnsemble::bernoulli, 4)
                    .is_zero_one());
}

TEST(Ensembles, ASeedAlwaysGivesTheSameOperatorAndAnotherSeedAnother) {
    for (const OperatorEnsemble ensemble : {OperatorEnsemble::hadamard, OperatorEnsemble::bernoulli,
                                            OperatorEnsemble::dct, OperatorEnsemble::fourier}) {
        const auto values = [&](std::uint64_t seed) {
            const Operator op = drawn(ensemble, 10, 30, seed);
            return std::vector<float>(op.values().begin(), op.values().end());
        };
        EXPECT_EQ(values(1), values(1));
        EXPECT_NE(values(1), values(2));
    }
}

TEST(Ensembles, WhatCannotBeDrawnIsRefusedWithAReason) {
    Error e = refusal([] { drawn(OperatorEnsemble::dct, 6, 5); });
    EXPECT_EQ(e.message(), "a dct operator of 5 columns has at most 5 rows, not 6");
    e = refusal([] { drawn(OperatorEnsemble::fourier, 6, 5); });
    EXPECT_EQ(e.message(), "a fourier operator of 5 columns has at most 5 rows, not 6");
    e = refusal([] { drawn(OperatorEnsemble::hadamard, 9, 5); });
    EXPECT_EQ(e.message(), "a hadamard operator of 5 columns has at most 8 rows, not 9");
    const Structure mask = Structure::mask(2, 2, {0, 1, 3}, {0, 0, 1});
    for (const OperatorEnsemble ensemble : {OperatorEnsemble::hadamard, OperatorEnsemble::bernoulli,
                                            OperatorEnsemble::dct, OperatorEnsemble::fourier}) {
        e = refusal([&] { Operator::random(mask, ensemble, 1); });
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_EQ(e.message(),
                  "a " + std::string(to_string(ensemble)) + " operator cannot be drawn on a mask");
        EXPECT_FALSE(drawn_on_masks(ensemble));
    }
    EXPECT_NO_THROW(Operator::random(mask, OperatorEnsemble::rademacher, 1));
    e = refusal([] { drawn(OperatorEnsemble::binary_sparse, 4, 8); });
    EXPECT_EQ(e.message(), "a binary-sparse operator is a mask of its ones, not 'dense'");

    SyntheticSpec spec;
    spec.ensemble = OperatorEnsemble::binary_sparse;
    spec.train = spec.test = 1;
    ThreadPool pool(1);
    const auto refused = [&] { return refusal([&] { make_synthetic(spec, 1, pool); }).message(); };
    spec.ones_per_column = 51;
    EXPECT_EQ(refused(), "51 ones per column, but a column has 50 rows");
    spec.ones_per_column = 0;
    EXPECT_EQ(refused(), "0 ones per column, but a column has 50 rows");
    spec.ones_per_column = 2;
    spec.n = 20;
    EXPECT_EQ(refused(), "2 ones in each of 20 columns leave rows of 50 empty");
    spec.structure = StructureKind::repeated;
    EXPECT_EQ(refused(), "a binary-sparse operator is a mask of its ones, not 'repeated'");
}

TEST(Ensembles, RealSignalsAreSensedByAnyOfThem) {
    ThreadPool pool(1);
    const Basis basis = Basis::named(BasisKind::dct, 64);
    for (const OperatorEnsemble ensemble :
         {OperatorEnsemble::hadamard, OperatorEnsemble::bernoulli, OperatorEnsemble::binary_sparse,
          OperatorEnsemble::dct, OperatorEnsemble::fourier}) {
        SensingSpec spec;
        spec.ensemble = ensemble;
        spec.ones_per_column = 4;
        const Operator op = sensing_operator(spec, basis, 64, 1, pool);
        EXPECT_EQ(op.rows(), 32u);
        EXPECT_NEAR(column_norm(op), 1, 0.05) << to_string(ensemble);
    }
}

}  // namespace
}  // namespace pibinn
