#include "pibinn/omp.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "solvers/textbook_omp.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// Seven rows of the 8 x 8 Hadamard matrix: 8 columns in 7 dimensions whose coherence is 1/7, so
/// that OMP provably finds any 2 columns.
Matrix<float> simplex_frame() {
    Matrix<float> a(7, 8);
    for (unsigned i = 1; i < 8; ++i)
        for (unsigned j = 0; j < 8; ++j)
            a(i - 1, j) = (__builtin_popcount(i & j) % 2 ? -1.0F : 1.0F) / std::sqrt(7.0F);
    return a;
}

TEST(Omp, EqualsBruteForceOverAllSupportsOfTwo) {
    ThreadPool pool(1);
    const Matrix<float> frame = simplex_frame();
    const Eigen::MatrixXd a = to_eigen(frame);
    const OmpSolver omp(Operator::from_dense(frame), pool);
    Stream stream(1, Purpose::tests);
    for (int p = 0; p < 8; ++p)
        for (int q = p + 1; q < 8; ++q) {
            Eigen::VectorXd y = 1.5 * a.col(p) - 1.1 * a.col(q);
            for (Eigen::Index i = 0; i < 7; ++i) y(i) += 0.02 * stream.normal();
            const Batch measured = from_eigen(y.transpose());
            y = to_eigen(measured).row(0);
            Eigen::VectorXd best;
            for (int s = 0; s < 8; ++s)
                for (int t = s + 1; t < 8; ++t) {
                    const Eigen::VectorXd x = least_squares(a, y, {s, t});
                    if (best.size() == 0 || (y - a * x).norm() < (y - a * best).norm()) best = x;
                }
            const Solution found = omp.solve(measured, {.sparsity = 2}, pool);
            for (int j = 0; j < 8; ++j) EXPECT_NEAR(found.x(0, j), best(j), 1e-6) << p << ' ' << q;
            EXPECT_EQ(found.info.max_iterations, 2u);
            EXPECT_EQ(found.info.converged, 0u);
        }
}

TEST(Omp, EqualsTheTextbookOnNoise) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(20, 45), 2);
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    const Batch y = normal_batch(70, 20, 3);
    for (std::size_t sparsity : {1u, 3u, 8u, 15u}) {
        const Solution s = solve_omp(op, y, {.sparsity = sparsity, .tolerance = 0}, pool);
        for (std::size_t i = 0; i < y.rows(); ++i) {
            const Eigen::VectorXd x =
                textbook_omp(a, to_eigen(y).row(i), static_cast<int>(sparsity));
            for (std::size_t j = 0; j < 45; ++j)
                EXPECT_NEAR(s.x(i, j), x(j), 1e-5) << sparsity << " signal " << i;
        }
    }
}

TEST(Omp, WideOperatorsGoWithoutTheGramToTheSameSolution) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(60, 2100), 4);
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    const Batch y = normal_batch(3, 60, 5);
    const Solution s = solve_omp(op, y, {.sparsity = 6}, pool);
    for (std::size_t i = 0; i < 3; ++i) {
        const Eigen::VectorXd x = textbook_omp(a, to_eigen(y).row(i), 6);
        for (std::size_t j = 0; j < 2100; ++j) EXPECT_NEAR(s.x(i, j), x(j), 1e-5);
    }
}

TEST(Omp, RecoversTheDefaultProblemExactly) {
    ThreadPool pool(0);
    SyntheticSpec spec;
    spec.train = 1;
    const Problem problem = make_synthetic(spec, 6, pool);
    const Solution s = solve_omp(problem.op, problem.test.y, {}, pool);
    std::size_t exact = 0;
    for (std::size_t i = 0; i < 1000; ++i) {
        bool same_support = true;
        double error = 0;
        double energy = 0;
        for (std::size_t j = 0; j < 100; ++j) {
            const double x = problem.test.x(i, j);
            same_support = same_support && (x != 0) == (s.x(i, j) != 0);
            error += (s.x(i, j) - x) * (s.x(i, j) - x);
            energy += x * x;
        }
        exact += same_support && std::sqrt(error) <= 1e-3 * std::sqrt(energy) ? 1 : 0;
    }
    EXPECT_GE(exact, 995u);
}

TEST(Omp, StopsAtTheToleranceItWasGiven) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(20, 45), 7);
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    const Batch y = normal_batch(10, 20, 8);
    const Solution s = solve_omp(op, y, {.tolerance = 0.3}, pool);
    EXPECT_EQ(s.info.converged, 10u);
    for (std::size_t i = 0; i < 10; ++i) {
        const Eigen::VectorXd yi = to_eigen(y).row(i);
        const Eigen::VectorXd xi = to_eigen(s.x).row(i);
        EXPECT_LE((yi - a * xi).norm(), 0.3 * yi.norm() * std::sqrt(1.0 + 1e-5));
        const int columns = static_cast<int>((xi.array() != 0).count());
        const Eigen::VectorXd before = textbook_omp(a, yi, columns - 1);
        EXPECT_GT((yi - a * before).norm(), 0.3 * yi.norm()) << "one column too many";
    }
}

TEST(Omp, StopsCleanlyAtDependentAndZeroColumns) {
    ThreadPool pool(1);
    // Columns 0, 1, their sum, twice the first, and nothing: rank 2 in 4 dimensions.
    Matrix<float> a(4, 5);
    const Batch two = normal_batch(2, 4, 9);
    for (std::size_t i = 0; i < 4; ++i) {
        a(i, 0) = two(0, i);
        a(i, 1) = two(1, i);
        a(i, 2) = two(0, i) + two(1, i);
        a(i, 3) = 2 * two(0, i);
    }
    const Batch y = normal_batch(6, 4, 10);
    const Solution s = solve_omp(Operator::from_dense(a), y, {.tolerance = 0}, pool);
    EXPECT_EQ(s.info.max_iterations, 2u);
    EXPECT_TRUE(all_finite(s.x));
    const Eigen::MatrixXd ae = to_eigen(a);
    for (std::size_t i = 0; i < 6; ++i) {
        const Eigen::VectorXd yi = to_eigen(y).row(i);
        const Eigen::VectorXd xi = to_eigen(s.x).row(i);
        const double least = (yi - ae * least_squares(ae, yi, {0, 1})).norm();
        EXPECT_NEAR((yi - ae * xi).norm(), least, 1e-5);
        EXPECT_EQ(xi(4), 0.0);
    }
}

TEST(Omp, NeverTakesMoreColumnsThanRows) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(6, 11), 11);
    const Solution s =
        solve_omp(op, normal_batch(4, 6, 12), {.sparsity = 99, .tolerance = 0}, pool);
    EXPECT_EQ(s.info.max_iterations, 6u);
    EXPECT_TRUE(all_finite(s.x));
    const Operator tall = gaussian(Structure::dense(11, 6), 13);
    EXPECT_EQ(solve_omp(tall, normal_batch(4, 11, 14), {}, pool).info.max_iterations, 6u);
}

TEST(Omp, EveryStructureEqualsItsDenseMatrix) {
    ThreadPool pool(2);
    for (const Operator& op : structured_operators()) {
        // One entry a block of 9 (or few in a mask) keeps recovery, and so both answers, exact.
        Batch x(40, op.cols());
        Stream stream(15, Purpose::tests);
        for (std::size_t i = 0; i < 40; ++i)
            for (std::size_t j = stream.below(9); j < op.cols(); j += 9)
                x(i, j) = static_cast<float>(1 + stream.uniform());
        const Batch y = op.apply(x, pool);
        const OmpOptions options{.sparsity =
                                     op.structure().kind() == StructureKind::mask ? 2u : 0u};
        const Operator dense = Operator::from_dense(op.to_dense());
        const Solution s = solve_omp(op, y, options, pool);
        const Solution d = solve_omp(dense, y, options, pool);
        EXPECT_LT(max_abs_difference(s.x, d.x), 1e-4) << to_string(op.structure().kind());
        if (op.structure().kind() == StructureKind::mask) continue;
        EXPECT_EQ(s.info.converged, 40u);
    }
}

TEST(Omp, BlocksHaveSparsityOfTheirOwn) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::repeated(5, 9, 3), 16);
    const Batch y = normal_batch(2, 15, 17);
    const Solution s = solve_omp(op, y, {.sparsity = 2}, pool);
    EXPECT_EQ(s.info.max_iterations, 6u);
    const Operator block(Structure::dense(5, 9), {op.values().begin(), op.values().end()});
    for (std::size_t i = 0; i < 2; ++i)
        for (std::size_t u = 0; u < 3; ++u) {
            const auto part = y.view().row_range(i, i + 1).col_range(5 * u, 5 * u + 5);
            const Solution alone = solve_omp(block, part, {.sparsity = 2}, pool);
            for (std::size_t j = 0; j < 9; ++j) EXPECT_FLOAT_EQ(s.x(i, 9 * u + j), alone.x(0, j));
        }
}

TEST(Omp, GivesTheSameBytesForAnyNumberOfThreads) {
    std::vector<Operator> operators = structured_operators();
    operators.push_back(gaussian(Structure::dense(25, 50), 18));
    for (const Operator& op : operators) {
        ThreadPool one(1);
        const Batch y = normal_batch(200, op.rows(), 19);
        const Solution s = solve_omp(op, y, {.sparsity = 4}, one);
        for (std::size_t threads : {2u, 3u}) {
            ThreadPool many(threads);
            EXPECT_TRUE(same_bytes(s.x, solve_omp(op, y, {.sparsity = 4}, many).x)) << threads;
        }
    }
}

TEST(Omp, HandlesEmptyZeroAndTinyBatches) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(7, 13), 20);
    EXPECT_EQ(solve_omp(op, Batch(0, 7), {}, pool).x.rows(), 0u);
    const Solution zero = solve_omp(op, Batch(3, 7), {}, pool);
    for (float v : zero.x.values()) EXPECT_EQ(v, 0.0F);
    EXPECT_EQ(zero.info.max_iterations, 0u);
    EXPECT_EQ(zero.info.converged, 3u);

    const Operator one(Structure::dense(1, 1), {2.0F});
    Batch y(1, 1);
    y(0, 0) = 3;
    EXPECT_FLOAT_EQ(solve_omp(one, y, {}, pool).x(0, 0), 1.5F);
    const Operator nothing(Structure::dense(2, 3), AlignedBuffer<float>(6, 0.0F));
    const Solution still = solve_omp(nothing, normal_batch(2, 2, 21), {}, pool);
    for (float v : still.x.values()) EXPECT_EQ(v, 0.0F);
    EXPECT_EQ(still.info.converged, 0u);
}

TEST(Omp, RefusesWhatMakesNoSense) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(4, 6), 22);
    EXPECT_THROW(solve_omp(op, Batch(1, 5), {}, pool), Error);
    EXPECT_THROW(solve_omp(op, Batch(1, 4), {.tolerance = -1}, pool), Error);
    EXPECT_THROW(solve_omp(op, Batch(1, 4), {.noise_std = -1}, pool), Error);
    EXPECT_THROW(solve_omp(op, Batch(1, 4), {.noise_std = NAN}, pool), Error);
    Batch bad(1, 4);
    bad(0, 0) = INFINITY;
    EXPECT_THROW(solve_omp(op, bad, {}, pool), Error);
}

}  // namespace
}  // namespace pibinn
