#include "spectral/spectral_norm.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "pibinn/random.hpp"
#include "spectral/step_matrix.hpp"

namespace pibinn {

namespace {

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Eigen::MatrixXd out(rows, cols);
    for (Eigen::Index i = 0; i < out.size(); ++i) out.data()[i] = stream.normal();
    return out;
}

}  // namespace

TEST(SpectralNorm, IsTheLargestSingularValue) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Eigen::MatrixXd m = random_matrix(7, 4, seed);
        const double expected = m.jacobiSvd().singularValues()[0];
        EXPECT_NEAR(spectral_norm(m), expected, 1e-13 * expected);
        EXPECT_NEAR(spectral_norm(m.transpose()), expected, 1e-13 * expected);
        EXPECT_NEAR(spectral_norm(m.topRows(3)), m.topRows(3).jacobiSvd().singularValues()[0],
                    1e-13 * expected);
    }
}

TEST(SpectralNorm, OfNothingAndOfZerosIsZero) {
    EXPECT_EQ(spectral_norm(Eigen::MatrixXd(0, 0)), 0);
    EXPECT_EQ(spectral_norm(Eigen::MatrixXd::Zero(3, 2)), 0);
}

TEST(SpectralNorm, LargestEigenvalueHasASign) {
    EXPECT_DOUBLE_EQ(largest_eigenvalue(Eigen::Vector2d(-3, -1).asDiagonal()), -1);
}

TEST(SpectralNorm, OfAnySubmatrixCoversEachOfThem) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Eigen::MatrixXd m = random_matrix(7, 7, seed);
        for (std::size_t s = 1; s <= 3; ++s) {
            const double bound = norm_of_any_submatrix(m, s);
            double most = 0;
            for (int i = 0; i < 7; ++i)
                for (int j = i; j < 7; ++j)
                    for (int k = j; k < 7; ++k) {
                        std::vector<int> entries{i};
                        if (j > i) entries.push_back(j);
                        if (k > j) entries.push_back(k);
                        if (entries.size() == s)
                            most = std::max(most, spectral_norm(submatrix(m, entries)));
                    }
            EXPECT_LE(most, bound * (1 + 1e-12)) << seed << " " << s;
            EXPECT_LE(bound, 3 * most) << "says something";
        }
    }
}

// One entry at a time the bound is exact, all of them at once it is the norm itself.
TEST(SpectralNorm, OfAnySubmatrixIsExactForOneEntryAndForAll) {
    const Eigen::MatrixXd m = random_matrix(5, 5, 3);
    EXPECT_DOUBLE_EQ(norm_of_any_submatrix(m, 1), m.diagonal().cwiseAbs().maxCoeff());
    EXPECT_DOUBLE_EQ(norm_of_any_submatrix(m, 5), spectral_norm(m));
    EXPECT_DOUBLE_EQ(norm_of_any_submatrix(m, 50), spectral_norm(m));
}

TEST(StepMatrix, IsDeltaOnTheDiagonalLessTheScaledGram) {
    Eigen::Matrix2d gram;
    gram << 1, 2, 3, 4;
    Eigen::Matrix2d expected;
    expected << 0.9 - 0.5, -1, -1.5, 0.9 - 2;
    EXPECT_LT((step_matrix(gram, 0.9, 0.5) - expected).norm(), 1e-15);
    EXPECT_EQ(step_matrix(gram, 1), Eigen::Matrix2d::Identity() - gram);
}

TEST(StepMatrix, SubmatrixTakesRowsAndColumnsInTheirOrder) {
    const Eigen::MatrixXd m = random_matrix(5, 5, 1);
    const Eigen::MatrixXd picked = submatrix(m, std::vector<std::uint32_t>{1, 4});
    ASSERT_EQ(picked.rows(), 2);
    EXPECT_EQ(picked(0, 1), m(1, 4));
    EXPECT_EQ(picked(1, 0), m(4, 1));
    EXPECT_EQ(picked(1, 1), m(4, 4));
}

}  // namespace pibinn
