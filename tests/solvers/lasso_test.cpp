#include "pibinn/lasso.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "solvers/helpers.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// The largest violation of the lasso's optimality conditions, as a share of max|A^T y|, in
/// float64: with c = A^T (y - A x), c_j = lambda sign(x_j) on the support and |c_j| <= lambda off
/// it.
double kkt_violation(const Operator& op, const Batch& x, const Batch& y, double relative_lambda) {
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    double worst = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        const Eigen::VectorXd xi = to_eigen(x).row(i);
        const Eigen::VectorXd yi = to_eigen(y).row(i);
        const double top = (a.transpose() * yi).cwiseAbs().maxCoeff();
        const double lambda = relative_lambda * top;
        const Eigen::VectorXd c = a.transpose() * (yi - a * xi);
        for (Eigen::Index j = 0; j < c.size(); ++j) {
            const double off = xi(j) == 0 ? std::max(0.0, std::abs(c(j)) - lambda)
                                          : std::abs(c(j) - std::copysign(lambda, xi(j)));
            worst = std::max(worst, off / top);
        }
    }
    return worst;
}

LassoOptions thorough(LassoMethod method, double lambda) {
    LassoOptions options;
    options.method = method;
    options.lambda = lambda;
    options.max_iterations = 50000;
    options.tolerance = 3e-7;
    return options;
}

TEST(Lasso, BothMethodsMeetTheOptimalityConditions) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(25, 50), 1);
    const Batch y = op.apply(clear_signals(20, 50, 0.08, 2), pool);
    for (LassoMethod method : {LassoMethod::ista, LassoMethod::fista}) {
        const Solution s = solve_lasso(op, y, thorough(method, 0.1), pool);
        EXPECT_EQ(s.info.converged, 20u);
        EXPECT_LT(kkt_violation(op, s.x, y, 0.1), 2e-5);
    }
}

TEST(Lasso, IstaAndFistaAgree) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(25, 50), 3);
    const Batch y = op.apply(clear_signals(20, 50, 0.08, 4), pool);
    LassoOptions slow;
    slow.method = LassoMethod::ista;
    slow.lambda = 0.1;
    slow.max_iterations = 5000;
    LassoOptions fast = slow;
    fast.method = LassoMethod::fista;
    EXPECT_LT(2 * solve_lasso(op, y, fast, pool).info.mean_iterations,
              solve_lasso(op, y, slow, pool).info.mean_iterations);
    // ISTA's steps grow short long before it arrives: for agreement it must run on.
    slow.tolerance = fast.tolerance = 0;
    EXPECT_LT(
        max_abs_difference(solve_lasso(op, y, slow, pool).x, solve_lasso(op, y, fast, pool).x),
        1e-4);
}

TEST(Lasso, IsSoftThresholdingForAnOrthonormalOperator) {
    ThreadPool pool(1);
    const Eigen::MatrixXd square = to_eigen(normal_batch(16, 16, 5));
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(square).householderQ();
    const Operator op = Operator::from_dense(from_eigen(q));
    const Batch y = normal_batch(7, 16, 6);
    for (LassoMethod method : {LassoMethod::ista, LassoMethod::fista}) {
        LassoOptions options;
        options.method = method;
        options.lambda = 0.4;
        options.unit = LambdaUnit::absolute;
        const Solution s = solve_lasso(op, y, options, pool);
        const Eigen::MatrixXd z = to_eigen(y) * q;
        for (std::size_t i = 0; i < 7; ++i)
            for (std::size_t j = 0; j < 16; ++j)
                EXPECT_NEAR(s.x(i, j),
                            std::copysign(std::max(std::abs(z(i, j)) - 0.4, 0.0), z(i, j)), 3e-6);
    }
}

TEST(Lasso, LambdaFromTheTopOnGivesZero) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(10, 20), 7);
    LassoOptions options;
    options.lambda = 1.0001;
    const Solution zero = solve_lasso(op, normal_batch(5, 10, 8), options, pool);
    for (float v : zero.x.values()) EXPECT_EQ(v, 0.0F);
    EXPECT_EQ(zero.info.max_iterations, 1u);
    options.lambda = 0.95;
    const Solution some = solve_lasso(op, normal_batch(5, 10, 8), options, pool);
    for (std::size_t i = 0; i < 5; ++i) {
        double sum = 0;
        for (float v : some.x.row(i)) sum += std::abs(v);
        EXPECT_GT(sum, 0) << "signal " << i;
    }
}

TEST(Lasso, RelativeLambdaFollowsTheScaleOfTheSignal) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(10, 20), 9);
    const Batch y = normal_batch(3, 10, 10);
    Batch louder = y;
    for (float& v : louder.values()) v *= 1024.0F;
    Batch x = solve_lasso(op, y, {}, pool).x;
    for (float& v : x.values()) v *= 1024.0F;
    EXPECT_TRUE(same_bytes(x, solve_lasso(op, louder, {}, pool).x));
}

TEST(Lasso, EveryStructureEqualsItsDenseMatrix) {
    ThreadPool pool(2);
    for (const Operator& op : structured_operators()) {
        const Operator dense = Operator::from_dense(op.to_dense());
        const Batch y = op.apply(clear_signals(9, op.cols(), 0.1, 14), pool);
        const LassoOptions options = thorough(LassoMethod::fista, 0.1);
        const Solution s = solve_lasso(op, y, options, pool);
        EXPECT_LT(max_abs_difference(s.x, solve_lasso(dense, y, options, pool).x), 5e-4)
            << to_string(op.structure().kind());
        EXPECT_LT(kkt_violation(op, s.x, y, 0.1), 2e-5) << to_string(op.structure().kind());
    }
}

TEST(Lasso, ContinuationReachesTheSameSolutionByAnotherRoad) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(25, 50), 15);
    const Batch y = op.apply(clear_signals(20, 50, 0.08, 16), pool);
    LassoOptions options = thorough(LassoMethod::ista, 0.01);
    const Solution direct = solve_lasso(op, y, options, pool);
    options.continuation = 0.8;
    const Solution eased = solve_lasso(op, y, options, pool);
    EXPECT_LT(kkt_violation(op, eased.x, y, 0.01), 2e-5);
    EXPECT_NE(eased.info.mean_iterations, direct.info.mean_iterations);
    EXPECT_EQ(eased.info.converged, 20u);

    // After one iteration lambda is still 0.8 of the top: at most a few entries have woken.
    options.max_iterations = 1;
    std::size_t awake = 0;
    const Solution first = solve_lasso(op, y, options, pool);
    for (float v : first.x.values()) awake += v != 0 ? 1 : 0;
    EXPECT_GT(awake, 0u);
    EXPECT_LT(awake, 20u * 5u);
}

TEST(Lasso, RestartSavesIterationsAndKeepsTheSolution) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(25, 50), 17);
    const Batch y = op.apply(clear_signals(20, 50, 0.08, 18), pool);
    LassoOptions options = thorough(LassoMethod::fista, 0.05);
    const Solution with = solve_lasso(op, y, options, pool);
    options.restart = false;
    const Solution without = solve_lasso(op, y, options, pool);
    EXPECT_LT(with.info.mean_iterations, without.info.mean_iterations);
    EXPECT_LT(max_abs_difference(with.x, without.x), 3e-4);
}

TEST(Lasso, StopsAtTheLimitOfIterationsAndSaysSo) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(10, 20), 19);
    LassoOptions options;
    options.max_iterations = 7;
    options.tolerance = 0;
    const Solution s = solve_lasso(op, normal_batch(4, 10, 20), options, pool);
    EXPECT_EQ(s.info.signals, 4u);
    EXPECT_EQ(s.info.converged, 0u);
    EXPECT_EQ(s.info.max_iterations, 7u);
    EXPECT_EQ(s.info.mean_iterations, 7.0);
}

TEST(Lasso, ASignalsSolutionDoesNotHangOnItsNeighbours) {
    // Signals that are done leave the batch and others move into their place.
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(25, 50), 21);
    const Batch y = op.apply(clear_signals(150, 50, 0.08, 22), pool);
    const Solution together = solve_lasso(op, y, {}, pool);
    for (std::size_t i : {0u, 1u, 77u, 127u, 128u, 149u}) {
        const Solution alone = solve_lasso(op, y.view().row_range(i, i + 1), {}, pool);
        for (std::size_t j = 0; j < 50; ++j)
            EXPECT_NEAR(together.x(i, j), alone.x(0, j), 2e-5) << "signal " << i;
    }
}

TEST(Lasso, AKnownNormGivesTheSameBytesAndAnotherNormOtherSteps) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(25, 50), 23);
    const Batch y = op.apply(clear_signals(10, 50, 0.1, 24), pool);
    LassoOptions options;
    options.max_iterations = 5;
    const Solution computed = solve_lasso(op, y, options, pool);
    options.squared_norm = op.squared_norm();
    EXPECT_TRUE(same_bytes(computed.x, solve_lasso(op, y, options, pool).x));
    options.squared_norm = 2 * op.squared_norm();
    EXPECT_FALSE(same_bytes(computed.x, solve_lasso(op, y, options, pool).x));
    options.squared_norm = -1;
    EXPECT_THROW(solve_lasso(op, y, options, pool), Error);
}

TEST(Lasso, GivesTheSameBytesForAnyNumberOfThreads) {
    std::vector<Operator> operators = structured_operators();
    operators.push_back(gaussian(Structure::dense(25, 50), 23));
    for (const Operator& op : operators) {
        ThreadPool one(1);
        const Batch y = op.apply(clear_signals(300, op.cols(), 0.1, 24), one);
        LassoOptions options;
        options.max_iterations = 60;
        const Solution s = solve_lasso(op, y, options, one);
        for (std::size_t threads : {2u, 3u}) {
            ThreadPool many(threads);
            const Solution t = solve_lasso(op, y, options, many);
            EXPECT_TRUE(same_bytes(s.x, t.x)) << threads;
            EXPECT_EQ(s.info.mean_iterations, t.info.mean_iterations);
            EXPECT_EQ(s.info.converged, t.info.converged);
        }
    }
}

TEST(Lasso, HandlesEmptyZeroAndTinyBatches) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(7, 13), 25);
    EXPECT_EQ(solve_lasso(op, Batch(0, 7), {}, pool).x.rows(), 0u);
    const Solution zero = solve_lasso(op, Batch(3, 7), {}, pool);
    for (float v : zero.x.values()) EXPECT_EQ(v, 0.0F);
    EXPECT_EQ(zero.info.converged, 3u);

    const Operator one(Structure::dense(1, 1), {2.0F});
    Batch y(1, 1);
    y(0, 0) = 3;
    LassoOptions options;
    options.unit = LambdaUnit::absolute;
    options.lambda = 1;
    EXPECT_NEAR(solve_lasso(one, y, options, pool).x(0, 0), (2 * 3 - 1) / 4.0, 1e-6);

    const Operator nothing(Structure::dense(2, 3), AlignedBuffer<float>(6, 0.0F));
    const Solution still = solve_lasso(nothing, normal_batch(2, 2, 26), {}, pool);
    for (float v : still.x.values()) EXPECT_EQ(v, 0.0F);
}

TEST(Lasso, RefusesWhatMakesNoSense) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(4, 6), 27);
    const auto with = [](auto change) {
        LassoOptions options;
        change(options);
        return options;
    };
    const Batch y(1, 4);
    EXPECT_THROW(solve_lasso(op, y, with([](auto& o) { o.lambda = -1; }), pool), Error);
    EXPECT_THROW(solve_lasso(op, y, with([](auto& o) { o.lambda = NAN; }), pool), Error);
    EXPECT_THROW(solve_lasso(op, y, with([](auto& o) { o.continuation = 1; }), pool), Error);
    EXPECT_THROW(solve_lasso(op, y, with([](auto& o) { o.max_iterations = 0; }), pool), Error);
    EXPECT_THROW(solve_lasso(op, y, with([](auto& o) { o.tolerance = -1; }), pool), Error);
    try {
        solve_lasso(op, Batch(1, 5), {}, pool);
        FAIL() << "accepted 5 measurements";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::input);
        EXPECT_EQ(e.message(), "expected 4 measurements per row, got 5");
    }
    Batch bad(3, 4);
    bad(2, 1) = NAN;
    try {
        solve_lasso(op, bad, {}, pool);
        FAIL() << "accepted NaN";
    } catch (const Error& e) {
        EXPECT_EQ(e.message(), "measurement 2 has nan at entry 1");
    }
}

TEST(BestLambda, IsTheCandidateOfLeastErrorOnThePairs) {
    ThreadPool pool(2);
    SyntheticSpec spec;
    spec.train = 200;
    spec.test = 1;
    const Problem problem = make_synthetic(spec, 28, pool);
    LassoOptions options;
    options.max_iterations = 10;
    options.tolerance = 0;
    const std::vector<double> candidates{0.9, 0.1, 0.001};
    const LambdaChoice best = best_lambda(problem.op, problem.train, candidates, options, pool);
    std::size_t tried = 0;
    for (double lambda : candidates) {
        options.lambda = lambda;
        const Eigen::MatrixXd x = to_eigen(problem.train.x);
        const Eigen::MatrixXd estimate =
            to_eigen(solve_lasso(problem.op, problem.train.y, options, pool).x);
        const double nmse =
            ((estimate - x).rowwise().squaredNorm().array() / x.rowwise().squaredNorm().array())
                .mean();
        if (lambda == best.lambda) {
            EXPECT_NEAR(best.nmse_db, 10 * std::log10(nmse), 1e-9);
            ++tried;
        } else {
            EXPECT_LT(best.nmse_db, 10 * std::log10(nmse));
        }
    }
    EXPECT_EQ(tried, 1u);
}

TEST(BestLambda, RefusesNoCandidatesNoPairsAndZeroSignals) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(4, 6), 29);
    const std::vector<double> one{0.1};
    const DataSet zero{Batch(2, 6), Batch(2, 4)};
    EXPECT_THROW(best_lambda(op, zero, {}, {}, pool), Error);
    EXPECT_THROW(best_lambda(op, zero, one, {}, pool), Error);
    EXPECT_THROW(best_lambda(op, {Batch(0, 6), Batch(0, 4)}, one, {}, pool), Error);
    EXPECT_THROW(best_lambda(op, {Batch(2, 6), Batch(3, 4)}, one, {}, pool), Error);
}

TEST(SolverKind, IsNamedAsOnTheCommandLine) {
    for (const char* name : {"ista", "fista", "omp", "linear"})
        EXPECT_EQ(to_string(parse_solver_kind(name)), name);
    EXPECT_THROW(parse_solver_kind("lasso"), Error);
}

}  // namespace
}  // namespace pibinn
