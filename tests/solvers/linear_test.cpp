#include "pibinn/linear.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "solvers/helpers.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// The estimator of a dense structure as an n x m matrix.
Eigen::MatrixXd matrix_of(const LinearEstimator& e) {
    const std::size_t m = e.structure().rows();
    Eigen::MatrixXd out(e.structure().cols(), m);
    for (std::size_t l = 0; l < e.values().size(); ++l) out(l / m, l % m) = e.values()[l];
    return out;
}

DataSet noisy_pairs(const Operator& op, std::size_t count, std::uint64_t seed, ThreadPool& pool) {
    DataSet pairs{normal_batch(count, op.cols(), seed), {}};
    pairs.y = op.apply(pairs.x, pool);
    add_noise(pairs.y, 0.3, seed, Purpose::tests, pool);
    return pairs;
}

TEST(LinearEstimator, FitIsTheLeastSquaresSolution) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(7, 11), 1);
    const DataSet pairs = noisy_pairs(op, 1500, 2, pool);
    const auto fitted = LinearEstimator::fit(op.structure(), pairs, {.ridge = 0}, pool);
    const Eigen::MatrixXd x = to_eigen(pairs.x);
    const Eigen::MatrixXd y = to_eigen(pairs.y);
    const Eigen::MatrixXd direct = y.colPivHouseholderQr().solve(x).transpose();
    EXPECT_LT((matrix_of(fitted) - direct).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_EQ(fitted.stored_bits(), 32u * 7 * 11);
    EXPECT_TRUE(fitted.offset().empty());
}

TEST(LinearEstimator, TheGradientOfTheRidgeProblemIsZeroAtTheFit) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(7, 11), 3);
    const DataSet pairs = noisy_pairs(op, 40, 4, pool);
    const auto fitted = LinearEstimator::fit(op.structure(), pairs, {.ridge = 0.1}, pool);
    const Eigen::MatrixXd x = to_eigen(pairs.x);
    const Eigen::MatrixXd y = to_eigen(pairs.y);
    const Eigen::MatrixXd m = matrix_of(fitted);
    const double power = y.squaredNorm() / static_cast<double>(y.size());
    const Eigen::MatrixXd gradient = (m * y.transpose() - x.transpose()) * y / 40 + 0.1 * power * m;
    EXPECT_LT(gradient.cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_GT((m * y.transpose() - x.transpose()).norm(), 1.0);
}

TEST(LinearEstimator, IsTheAnalyticMmseWhenCovariancesAreKnown) {
    // Columns of a Hadamard matrix are signals and noise whose sample covariance is exactly I;
    // L x then has covariance L L^T, and the best estimator is S A^T (A S A^T + s^2 I)^-1.
    ThreadPool pool(1);
    const std::size_t m = 5;
    const std::size_t n = 8;
    Eigen::MatrixXd white(64, n + m);
    for (unsigned i = 0; i < 64; ++i)
        for (unsigned j = 0; j < n + m; ++j)
            white(i, j) = __builtin_popcount(i & (j + 1)) % 2 ? -1 : 1;
    const Eigen::MatrixXd mix = to_eigen(normal_batch(n, n, 5));
    const Operator op = gaussian(Structure::dense(m, n), 6);
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    const double s = 0.5;
    const Eigen::MatrixXd x = white.leftCols(n) * mix.transpose();
    const Eigen::MatrixXd y = x * a.transpose() + s * white.rightCols(m);
    const Eigen::MatrixXd cov = mix * mix.transpose();
    const Eigen::MatrixXd analytic =
        cov * a.transpose() *
        (a * cov * a.transpose() + s * s * Eigen::MatrixXd::Identity(m, m)).inverse();
    const auto fitted =
        LinearEstimator::fit(op.structure(), {from_eigen(x), from_eigen(y)}, {.ridge = 0}, pool);
    EXPECT_LT((matrix_of(fitted) - analytic).cwiseAbs().maxCoeff(), 5e-6);
}

TEST(LinearEstimator, FromPriorIsTheFormula) {
    ThreadPool pool(1);
    for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{5, 9}, {9, 5}, {1, 1}}) {
        const Operator op = gaussian(Structure::dense(m, n), 7);
        const Eigen::MatrixXd a = to_eigen(op.to_dense());
        const Eigen::MatrixXd noisy =
            a.transpose() * (a * a.transpose() + 0.04 * Eigen::MatrixXd::Identity(m, m)).inverse();
        const Eigen::MatrixXd found = matrix_of(LinearEstimator::from_prior(op, 0.2, pool));
        EXPECT_LT((found - noisy).cwiseAbs().maxCoeff(), 2e-6) << m << " x " << n;
        const Eigen::MatrixXd inverse = a.completeOrthogonalDecomposition().pseudoInverse();
        const Eigen::MatrixXd noiseless = matrix_of(LinearEstimator::from_prior(op, 0, pool));
        EXPECT_LT((noiseless - inverse).cwiseAbs().maxCoeff(), 1e-5) << m << " x " << n;
    }
}

TEST(LinearEstimator, FromPriorGivesTheLeastNormSolutionForDependentRows) {
    ThreadPool pool(1);
    Matrix<float> a = normal_batch(3, 6, 8);
    for (std::size_t j = 0; j < 6; ++j) a(2, j) = a(0, j);
    const Operator op = Operator::from_dense(a);
    const Batch y = op.apply(normal_batch(4, 6, 9), pool);
    const Batch x = LinearEstimator::from_prior(op, 0, pool).recover(y, pool);
    const Eigen::MatrixXd inverse = to_eigen(a).completeOrthogonalDecomposition().pseudoInverse();
    EXPECT_LT((to_eigen(x) - to_eigen(y) * inverse.transpose()).cwiseAbs().maxCoeff(), 1e-5);
    const Operator nothing(Structure::dense(2, 3), AlignedBuffer<float>(6, 0.0F));
    const auto zero = LinearEstimator::from_prior(nothing, 0, pool);
    for (float v : zero.values()) EXPECT_EQ(v, 0.0F);
}

TEST(LinearEstimator, FromPriorOnAnyStructureEqualsItsDenseMatrix) {
    ThreadPool pool(2);
    for (const Operator& op : structured_operators()) {
        const Operator dense = Operator::from_dense(op.to_dense());
        const Batch y = normal_batch(5, op.rows(), 10);
        const auto structured = LinearEstimator::from_prior(op, 0.1, pool);
        EXPECT_LT(
            max_abs_difference(structured.recover(y, pool),
                               LinearEstimator::from_prior(dense, 0.1, pool).recover(y, pool)),
            1e-5)
            << to_string(op.structure().kind());
        const bool mask = op.structure().kind() == StructureKind::mask;
        EXPECT_EQ(structured.stored_bits(),
                  32 * (mask ? op.rows() * op.cols() : op.structure().links()));
    }
}

TEST(LinearEstimator, BlocksAreFittedOnTheirOwnAndRepetitionsPooled) {
    ThreadPool pool(2);
    const Operator blocks = gaussian(three_blocks(), 11);
    const DataSet pairs = noisy_pairs(blocks, 200, 12, pool);
    const auto whole = LinearEstimator::fit(blocks.structure(), pairs, {}, pool);
    for (const Block& b : blocks.structure().diagonal()) {
        const Eigen::MatrixXd x = to_eigen(pairs.x).middleCols(b.col, b.cols);
        const Eigen::MatrixXd y = to_eigen(pairs.y).middleCols(b.row, b.rows);
        const auto alone = LinearEstimator::fit(Structure::dense(b.rows, b.cols),
                                                {from_eigen(x), from_eigen(y)}, {}, pool);
        for (std::size_t l = 0; l < b.rows * b.cols; ++l)
            EXPECT_NEAR(whole.values()[b.first_link + l], alone.values()[l], 1e-6);
    }

    const Operator repeated = gaussian(Structure::repeated(4, 6, 5), 13);
    const DataSet long_pairs = noisy_pairs(repeated, 100, 14, pool);
    DataSet folded{Batch(500, 6), Batch(500, 4)};
    std::copy_n(long_pairs.x.data(), long_pairs.x.size(), folded.x.data());
    std::copy_n(long_pairs.y.data(), long_pairs.y.size(), folded.y.data());
    const auto pooled = LinearEstimator::fit(repeated.structure(), long_pairs, {}, pool);
    const auto direct = LinearEstimator::fit(Structure::dense(4, 6), folded, {}, pool);
    ASSERT_EQ(pooled.values().size(), 24u);
    for (std::size_t l = 0; l < 24; ++l) EXPECT_EQ(pooled.values()[l], direct.values()[l]);
    const Batch x = pooled.recover(long_pairs.y, pool);
    EXPECT_LT((to_eigen(x).leftCols(6) -
               to_eigen(long_pairs.y).leftCols(4) * matrix_of(direct).transpose())
                  .cwiseAbs()
                  .maxCoeff(),
              1e-5);
}

TEST(LinearEstimator, RemovingTheMeanRecoversAConstantExactly) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::repeated(3, 5, 2), 15);
    DataSet pairs = noisy_pairs(op, 300, 16, pool);
    for (std::size_t i = 0; i < pairs.x.size(); ++i)
        pairs.x.data()[i] += static_cast<float>(10 + i % 5);
    for (float& v : pairs.y.values()) v += 3;
    const auto plain = LinearEstimator::fit(op.structure(), pairs, {.ridge = 0}, pool);
    const auto centred =
        LinearEstimator::fit(op.structure(), pairs, {.ridge = 0, .remove_mean = true}, pool);
    EXPECT_EQ(centred.stored_bits(), 32u * (15 + 5));
    const Eigen::MatrixXd x = to_eigen(pairs.x);
    const Eigen::MatrixXd error = to_eigen(centred.recover(pairs.y, pool)) - x;
    // Errors of a least-squares fit with an offset have mean zero, over both repetitions.
    const Eigen::VectorXd mean =
        (error.leftCols(5).colwise().mean() + error.rightCols(5).colwise().mean()) / 2;
    EXPECT_LT(mean.cwiseAbs().maxCoeff(), 1e-5);
    EXPECT_LT(error.squaredNorm(), (to_eigen(plain.recover(pairs.y, pool)) - x).squaredNorm());
}

TEST(LinearEstimator, GivesTheSameBytesForAnyNumberOfThreads) {
    ThreadPool one(1);
    for (const Operator& op : structured_operators()) {
        const DataSet pairs = noisy_pairs(op, 1100, 17, one);
        const auto fitted = LinearEstimator::fit(op.structure(), pairs, {}, one);
        const Batch x = fitted.recover(pairs.y, one);
        for (std::size_t threads : {2u, 3u}) {
            ThreadPool many(threads);
            EXPECT_TRUE(same_bytes(
                x, LinearEstimator::fit(op.structure(), pairs, {}, many).recover(pairs.y, many)));
        }
    }
}

TEST(LinearEstimator, HandlesZeroDataFewPairsAndEmptyBatches) {
    ThreadPool pool(1);
    const Structure s = Structure::dense(7, 13);
    const auto zero = LinearEstimator::fit(s, {Batch(3, 13), Batch(3, 7)}, {}, pool);
    for (float v : zero.values()) EXPECT_EQ(v, 0.0F);
    EXPECT_EQ(zero.recover(Batch(0, 7), pool).rows(), 0u);
    const DataSet few{normal_batch(2, 13, 18), normal_batch(2, 7, 19)};
    const Batch x = LinearEstimator::fit(s, few, {}, pool).recover(few.y, pool);
    EXPECT_LT(max_abs_difference(x, few.x), 1e-3);
    EXPECT_THROW(LinearEstimator::fit(s, few, {.ridge = 0}, pool), Error);
}

TEST(LinearEstimator, RecoversFromAViewWithGaps) {
    ThreadPool pool(1);
    const auto e =
        LinearEstimator::from_prior(gaussian(Structure::repeated(3, 5, 2), 20), 0.1, pool);
    const Batch wide = normal_batch(4, 9, 21);
    Batch packed(4, 6);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::size_t j = 0; j < 6; ++j) packed(i, j) = wide(i, j + 2);
    EXPECT_TRUE(same_bytes(e.recover(wide.view().col_range(2, 8), pool), e.recover(packed, pool)));
}

TEST(LinearEstimator, RefusesPairsThatDoNotFit) {
    ThreadPool pool(1);
    const Structure s = Structure::dense(4, 6);
    const auto fit = [&](DataSet pairs, LinearFitOptions options = {}) {
        LinearEstimator::fit(s, pairs, options, pool);
    };
    EXPECT_THROW(fit({Batch(2, 5), Batch(2, 4)}), Error);
    EXPECT_THROW(fit({Batch(2, 6), Batch(2, 3)}), Error);
    EXPECT_THROW(fit({Batch(2, 6), Batch(3, 4)}), Error);
    EXPECT_THROW(fit({Batch(0, 6), Batch(0, 4)}), Error);
    EXPECT_THROW(fit({Batch(2, 6), Batch(2, 4)}, {.ridge = -1}), Error);
    EXPECT_THROW(LinearEstimator::from_prior(gaussian(s, 22), -0.1, pool), Error);
    EXPECT_THROW(LinearEstimator::from_prior(gaussian(s, 22), 0, pool).recover(Batch(1, 5), pool),
                 Error);
}

TEST(LinearEstimator, Int8HasOneScaleARowAndIsAsNearAsHalfALevel) {
    ThreadPool pool(1);
    for (const Operator& op : structured_operators()) {
        const DataSet pairs = noisy_pairs(op, 400, 5, pool);
        const auto fitted = LinearEstimator::fit(op.structure(), pairs, {}, pool);
        const auto rounded = fitted.rounded_to_int8();
        std::size_t rows = 0;
        bool moved = false;
        for (const Block& b : fitted.structure().diagonal())
            for (std::size_t j = 0; j < b.cols; ++j, ++rows) {
                const auto before = fitted.values().subspan(b.first_link + j * b.rows, b.rows);
                const auto after = rounded.values().subspan(b.first_link + j * b.rows, b.rows);
                double largest = 0;
                for (const float v : before) largest = std::max(largest, std::abs(double{v}));
                const double scale = largest / 127;
                for (std::size_t i = 0; i < b.rows; ++i) {
                    const double level = after[i] / scale;
                    EXPECT_NEAR(level, std::round(level), 1e-4);
                    EXPECT_LE(std::abs(level), 127.001);
                    EXPECT_LE(std::abs(after[i] - before[i]), 0.5001 * scale);
                    moved |= after[i] != before[i];
                }
            }
        EXPECT_TRUE(moved);
        EXPECT_EQ(fitted.stored_bits(), 32 * fitted.values().size());
        EXPECT_EQ(rounded.stored_bits(), 8 * fitted.values().size() + 32 * rows);
        EXPECT_EQ(rounded.rounded_to_int8().stored_bits(), rounded.stored_bits());
        EXPECT_LT(max_abs_difference(rounded.recover(pairs.y, pool), fitted.recover(pairs.y, pool)),
                  0.1);
    }
}

TEST(LinearEstimator, Int8KeepsRowsOfZerosAndOffsets) {
    ThreadPool pool(1);
    DataSet pairs{Batch(20, 3), normal_batch(20, 4, 6)};
    for (std::size_t i = 0; i < 20; ++i) {
        pairs.x(i, 0) = pairs.y(i, 1);
        pairs.x(i, 2) = 5;
    }
    const auto fitted =
        LinearEstimator::fit(Structure::dense(4, 3), pairs, {.remove_mean = true}, pool);
    const auto rounded = fitted.rounded_to_int8();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rounded.values()[4 + i], 0.0F);
    EXPECT_EQ(rounded.offset()[2], fitted.offset()[2]);
    EXPECT_EQ(rounded.stored_bits(), 8u * 12 + 32 * 3 + 32 * 3);
}

}  // namespace
}  // namespace pibinn
