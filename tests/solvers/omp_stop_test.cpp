#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "solvers/textbook_omp.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// The same noise on signals of very different strength.
DataSet faint_and_strong(const Operator& op, std::size_t count, double noise_std,
                         ThreadPool& pool) {
    DataSet pairs{clear_signals(count, op.cols(), 0.06, 30), {}};
    for (std::size_t i = 0; i < count; ++i)
        for (float& v : pairs.x.row(i))
            v *= std::pow(10.0F, -1.5F * static_cast<float>(i % 10) / 9);
    pairs.y = op.apply(pairs.x, pool);
    add_noise(pairs.y, noise_std, 31, Purpose::tests, pool);
    return pairs;
}

/// The same with noise `snr_db` below the measurements of each signal.
DataSet at_a_ratio(const Operator& op, std::size_t count, double snr_db, ThreadPool& pool) {
    DataSet pairs = faint_and_strong(op, count, 0, pool);
    Batch noise(count, op.rows());
    add_noise(noise, 1, 44, Purpose::tests, pool);
    for (std::size_t i = 0; i < count; ++i) {
        double energy = 0;
        for (const float v : pairs.y.row(i)) energy += double{v} * v;
        const double size =
            std::sqrt(energy / static_cast<double>(op.rows())) * std::pow(10.0, -snr_db / 20);
        for (std::size_t j = 0; j < op.rows(); ++j)
            pairs.y(i, j) += static_cast<float>(size * noise(i, j));
    }
    return pairs;
}

TEST(Omp, StopsAtTheNoiseLevelInAbsoluteTerms) {
    ThreadPool pool(1);
    const double noise_std = 0.05;
    const Operator op = gaussian(Structure::dense(30, 60), 32);
    const Eigen::MatrixXd a = to_eigen(op.to_dense());
    const DataSet pairs = faint_and_strong(op, 40, noise_std, pool);
    const Solution s = solve_omp(op, pairs.y, {.noise_std = noise_std}, pool);
    const double goal = noise_std * std::sqrt(30.0);
    std::size_t silent = 0;
    for (std::size_t i = 0; i < 40; ++i) {
        const Eigen::VectorXd y = to_eigen(pairs.y).row(i);
        const Eigen::VectorXd x = to_eigen(s.x).row(i);
        EXPECT_LE((y - a * x).norm(), goal * (1 + 1e-5));
        const int columns = static_cast<int>((x.array() != 0).count());
        silent += columns == 0 ? 1 : 0;
        if (columns > 0) {
            EXPECT_GT((y - a * textbook_omp(a, y, columns - 1)).norm(), goal);
        }
    }
    EXPECT_GT(silent, 0u) << "some signals are fainter than the noise";
    EXPECT_EQ(s.info.converged, 40u);
}

TEST(Omp, TheNoiseLevelOfABlockIsThatOfItsRows) {
    ThreadPool pool(1);
    for (const Operator& op : structured_operators()) {
        const Batch y = normal_batch(10, op.rows(), 33);
        const Solution s = solve_omp(op, y, {.noise_std = 0.6}, pool);
        const Batch fitted = op.apply(s.x, pool);
        const Structure& structure = op.structure();
        for (std::size_t i = 0; i < 10; ++i)
            for (std::size_t k = 0; k < structure.repeat(); ++k)
                for (const Block& b : structure.parts()) {
                    double residual = 0;
                    for (std::size_t r = 0; r < b.rows; ++r) {
                        const std::size_t at =
                            k * structure.rows() / structure.repeat() + b.row + r;
                        residual += std::pow(double{y(i, at)} - fitted(i, at), 2);
                    }
                    EXPECT_LE(residual, 0.36 * static_cast<double>(b.rows) * (1 + 1e-4));
                }
    }
}

TEST(OmpStop, IsTheBestOfTheRulesThatItTries) {
    ThreadPool pool(2);
    for (const Operator& op :
         {gaussian(Structure::dense(30, 60), 34), gaussian(Structure::repeated(15, 30, 2), 35),
          random_mask(25, 40, 36)}) {
        const OmpSolver solver(op, pool);
        const DataSet pairs = faint_and_strong(op, 60, 0.05, pool);
        const OmpChoice best = solver.best_stops(pairs, {.deviation = 0.05}, pool).best();
        EXPECT_NEAR(nmse_db(pairs.x, solver.solve(pairs.y, best.options, pool).x), best.nmse_db,
                    1e-4);
        for (const double factor : {0.7, 1.0, 1.5})
            EXPECT_GE(nmse_db(pairs.x, solver.solve(pairs.y, {.noise_std = factor * 0.05}, pool).x),
                      best.nmse_db - 1e-4);
        for (const std::size_t sparsity : {1u, 2u, 4u, 6u})
            EXPECT_GE(nmse_db(pairs.x, solver.solve(pairs.y, {.sparsity = sparsity}, pool).x),
                      best.nmse_db - 1e-4);
    }
}

TEST(OmpStop, DoesNotFitFaintSignalsToTheirNoise) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(30, 60), 37);
    const OmpSolver solver(op, pool);
    const DataSet pairs = faint_and_strong(op, 200, 0.05, pool);
    const OmpChoice best = solver.best_stops(pairs, noise_level(op, pairs, pool), pool).best();
    // One share of each signal's energy, the same for all, takes far too many columns of the faint.
    const Batch relative = solver.solve(pairs.y, {.tolerance = 0.1}, pool).x;
    EXPECT_LT(best.nmse_db, 0.5);
    EXPECT_GT(nmse_db(pairs.x, relative), best.nmse_db + 3);
}

TEST(OmpStop, WithoutNoiseLeavesRecoveryExact) {
    ThreadPool pool(0);
    SyntheticSpec spec;
    spec.train = spec.test = 300;
    const Problem problem = make_synthetic(spec, 38, pool);
    EXPECT_EQ(noise_level(problem.op, problem.train, pool).deviation, 0);
    EXPECT_EQ(noise_level(problem.op, problem.train, pool).share, 0);
    const OmpSolver solver(problem.op, pool);
    const OmpChoice best = solver.best_stops(problem.train, {}, pool).best();
    EXPECT_LT(nmse_db(problem.test.x, solver.solve(problem.test.y, best.options, pool).x), -130);
}

TEST(OmpStop, RefusesPairsWithoutSignals) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(4, 6), 39);
    const OmpSolver solver(op, pool);
    EXPECT_THROW(solver.best_stops({Batch(2, 6), normal_batch(2, 4, 40)}, {.deviation = 0.1}, pool),
                 Error);
    EXPECT_THROW(solver.best_stops({Batch(2, 6), Batch(1, 4)}, {.deviation = 0.1}, pool), Error);
}

TEST(NoiseLevel, IsThatOfTheMeasurements) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(30, 60), 41);
    for (const double noise_std : {1e-3, 0.05, 2.0})
        EXPECT_NEAR(noise_level(op, faint_and_strong(op, 100, noise_std, pool), pool).deviation,
                    noise_std, 0.03 * noise_std);
}

TEST(NoiseLevel, HasAShareThatIsTheSameForFaintAndStrongSignals) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(30, 60), 42);
    const DataSet pairs = at_a_ratio(op, 100, 20, pool);
    // y is the sum of a part of energy 1 and noise of energy 0.01.
    EXPECT_NEAR(noise_level(op, pairs, pool).share, std::sqrt(0.01 / 1.01), 0.005);
}

TEST(OmpStop, KnowsNoiseThatFollowsEachSignal) {
    ThreadPool pool(2);
    const Operator op = gaussian(Structure::dense(30, 60), 43);
    const OmpSolver solver(op, pool);
    const DataSet pairs = at_a_ratio(op, 300, 20, pool);
    const NoiseLevel noise = noise_level(op, pairs, pool);
    const OmpChoice absolute =
        solver.best_stops(pairs, {.deviation = noise.deviation}, pool).by_noise;
    const OmpChoice both = solver.best_stops(pairs, noise, pool).by_noise;
    EXPECT_LT(both.nmse_db, absolute.nmse_db - 3);
    EXPECT_NEAR(nmse_db(pairs.x, solver.solve(pairs.y, both.options, pool).x), both.nmse_db, 1e-4);
    EXPECT_GT(both.options.tolerance, 0.5 * noise.share);
}

TEST(Oracle, IsLeastSquaresOnTheTrueSupport) {
    ThreadPool pool(1);
    std::vector<Operator> operators = structured_operators();
    operators.push_back(gaussian(Structure::dense(20, 45), 42));
    operators.push_back(gaussian(Structure::dense(20, 2100), 43));
    for (const Operator& op : operators) {
        const Batch x = clear_signals(10, op.cols(), op.cols() > 1000 ? 0.002 : 0.1, 44);
        Batch y = op.apply(x, pool);
        add_noise(y, 0.1, 45, Purpose::tests, pool);
        const Batch fitted = OmpSolver(op, pool).fit_support(x, y, pool);
        const Eigen::MatrixXd a = to_eigen(op.to_dense());
        for (std::size_t i = 0; i < 10; ++i) {
            std::vector<int> support;
            for (std::size_t j = 0; j < op.cols(); ++j)
                if (x(i, j) != 0) support.push_back(static_cast<int>(j));
            if (support.empty()) continue;
            const Eigen::VectorXd yi = to_eigen(y).row(i);
            const Eigen::VectorXd fit = to_eigen(fitted).row(i);
            // A small block may have a support that its rows cannot tell apart: then fits differ.
            EXPECT_NEAR((yi - a * fit).norm(), (yi - a * least_squares(a, yi, support)).norm(),
                        1e-4)
                << to_string(op.structure().kind());
            for (std::size_t j = 0; j < op.cols(); ++j)
                EXPECT_TRUE(x(i, j) != 0 || fitted(i, j) == 0) << j;
        }
    }
}

/// 250 x 500, density 0.1: the field's benchmark. The figures are measured elsewhere in float64 on
/// other draws of the same distribution: OMP that knows the noise -22.4 and -44.1 dB, the oracle
/// -25.9 and -45.9 dB, at 20 and 40 dB.
TEST(Oracle, AndOmpReachTheFiguresOfTheBenchmark) {
    ThreadPool pool(0);
    const Operator op = gaussian(Structure::dense(250, 500), 46);
    const OmpSolver solver(op, pool);
    for (const auto& [snr_db, omp_db, oracle_db] :
         {std::tuple{20.0, -22.4, -25.9}, std::tuple{40.0, -44.1, -45.9}}) {
        SyntheticSpec spec;
        spec.prior.density = 0.1;
        spec.train = 1;
        spec.test = 100;
        spec.noise_std = std::sqrt(0.2) * std::pow(10, -snr_db / 20);
        const Problem problem = make_synthetic(spec, op, 47, pool);
        const Batch& x = problem.test.x;
        const Batch omp = solver.solve(problem.test.y, {.noise_std = spec.noise_std}, pool).x;
        EXPECT_NEAR(energy_nmse_db(x, omp), omp_db, 0.7) << snr_db;
        EXPECT_NEAR(energy_nmse_db(x, solver.fit_support(x, problem.test.y, pool)), oracle_db, 0.4);
    }
}

}  // namespace
}  // namespace pibinn
