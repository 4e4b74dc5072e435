#include "pibinn/amp.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "solvers/amp_shrink.hpp"
#include "solvers/helpers.hpp"

namespace pibinn {
namespace {

using namespace testing;

/// AMP as it is written, in float64: one signal, a fixed number of steps.
Eigen::VectorXd textbook_amp(const Eigen::MatrixXd& a, const Eigen::VectorXd& y,
                             const AmpOptions& o) {
    const auto m = static_cast<double>(a.rows());
    const Eigen::VectorXd norm = a.colwise().norm();
    const Eigen::MatrixXd unit = a.array().rowwise() / norm.transpose().array();
    Eigen::VectorXd z = Eigen::VectorXd::Zero(a.cols()), r = y;
    for (std::size_t k = 0; k < o.max_iterations; ++k) {
        const double tau2 = std::max(r.squaredNorm() / m, o.noise_std * o.noise_std);
        const Eigen::VectorXd v = z + unit.transpose() * r;
        Eigen::VectorXd h(v.size());
        double slope = 0;
        for (Eigen::Index j = 0; j < v.size(); ++j) {
            if (o.shrink == AmpShrink::soft) {
                const double above = std::abs(v(j)) - o.alpha * std::sqrt(tau2);
                h(j) = above > 0 ? std::copysign(above, v(j)) : 0;
                slope += above > 0 ? 1 : 0;
                continue;
            }
            // Bayes: the chance of a non-zero entry by the densities of v under both.
            const double s = o.prior.variance * norm(j) * norm(j);
            const auto density = [&](double variance) {
                return std::exp(-0.5 * v(j) * v(j) / variance) / std::sqrt(variance);
            };
            const double on = o.prior.density * density(s + tau2);
            const double off = (1 - o.prior.density) * density(tau2);
            const double p = on / (on + off);
            h(j) = p * s / (s + tau2) * v(j);
            // Var(x | v) / tau^2
            const double gain = s / (s + tau2);
            slope += (p * (gain * tau2 + gain * gain * v(j) * v(j)) - h(j) * h(j)) / tau2;
        }
        z += o.damping * (h - z);
        r += o.damping * (y - unit * z + slope / m * r - r);
    }
    return z.array() / norm.array();
}

Problem noisy_problem(const Operator& op, double density, double noise_std, std::size_t count,
                      std::uint64_t seed, ThreadPool& pool) {
    SyntheticSpec spec;
    spec.prior.density = density;
    spec.train = spec.test = count;
    spec.noise_std = noise_std;
    return make_synthetic(spec, op, seed, pool);
}

AmpOptions of_kind(AmpShrink shrink) {
    AmpOptions options;
    options.shrink = shrink;
    options.prior = {0.1, 1};
    options.noise_std = 0.02;
    return options;
}

TEST(Amp, EqualsTheTextbookInFloat64) {
    ThreadPool pool(2);
    // Columns of several lengths, which the solver has to undo.
    Matrix<float> a = gaussian(Structure::dense(40, 70), 1).to_dense();
    for (std::size_t i = 0; i < 40; ++i)
        for (std::size_t j = 0; j < 70; ++j) a(i, j) *= 0.5F + 0.05F * static_cast<float>(j % 40);
    const Operator op = Operator::from_dense(a);
    const Problem problem = noisy_problem(op, 0.08, 0.03, 30, 2, pool);
    for (const AmpShrink shrink : {AmpShrink::soft, AmpShrink::bernoulli_gaussian})
        for (const double damping : {1.0, 0.6}) {
            AmpOptions options = of_kind(shrink);
            options.damping = damping;
            options.max_iterations = 15;
            options.tolerance = 0;
            const Solution s = solve_amp(op, problem.test.y, options, pool);
            EXPECT_EQ(s.info.max_iterations, 15u);
            EXPECT_EQ(s.info.damped, 0u);
            for (std::size_t i = 0; i < 30; ++i) {
                const Eigen::VectorXd x =
                    textbook_amp(to_eigen(a), to_eigen(problem.test.y).row(i), options);
                for (std::size_t j = 0; j < 70; ++j)
                    EXPECT_NEAR(s.x(i, j), x(j), 2e-4)
                        << static_cast<int>(shrink) << ' ' << damping << " signal " << i;
            }
        }
}

TEST(Amp, TheSlopeOfThePosteriorMeanIsItsDerivative) {
    for (const double tau2 : {1e-6, 1e-2, 0.7})
        for (const double v : {-2.0, -0.3, 0.0, 0.05, 1.1}) {
            const PosteriorMean mean(0.1, tau2);
            const double h = 1e-6 * std::sqrt(tau2);
            const double difference = (mean(v + h, 0.8).value - mean(v - h, 0.8).value) / (2 * h);
            EXPECT_NEAR(mean(v, 0.8).slope, difference, 1e-4 * (1 + std::abs(difference)));
        }
    EXPECT_EQ(PosteriorMean(0.1, 1e-3)(0.5, 0).value, 0) << "an entry that A does not see";
}

/// 250 x 500, density 0.1: the field's benchmark. The figures are measured elsewhere in float64 on
/// other draws of the same distribution: -23.4 dB at 20 dB, -45.5 dB at 40 dB, in 16 steps.
TEST(Amp, BernoulliGaussianReachesTheFiguresOfTheBenchmark) {
    ThreadPool pool(0);
    const Operator op = gaussian(Structure::dense(250, 500), 3);
    for (const auto& [snr_db, expected] : {std::pair{20.0, -23.4}, std::pair{40.0, -45.5}}) {
        // A measurement has 50 entries of variance 1/250.
        const double noise_std = std::sqrt(0.2) * std::pow(10, -snr_db / 20);
        const Problem problem = noisy_problem(op, 0.1, noise_std, 100, 4, pool);
        AmpOptions options = of_kind(AmpShrink::bernoulli_gaussian);
        options.noise_std = noise_std;
        options.max_iterations = 16;
        const Solution s = solve_amp(op, problem.test.y, options, pool);
        EXPECT_NEAR(energy_nmse_db(problem.test.x, s.x), expected, 0.5) << snr_db;
    }
}

TEST(Amp, RecoversExactlyWithoutNoise) {
    ThreadPool pool(0);
    const Operator op = gaussian(Structure::dense(100, 200), 5);
    const Problem problem = noisy_problem(op, 0.05, 0, 100, 6, pool);
    AmpOptions options;
    options.shrink = AmpShrink::bernoulli_gaussian;
    const Solution s = solve_amp(op, problem.test.y, options, pool);
    EXPECT_GE(s.info.converged, 98u);
    EXPECT_LT(energy_nmse_db(problem.test.x, s.x), -60);
    EXPECT_LT(s.info.mean_iterations, 60);
}

TEST(Amp, BlocksAreProblemsOfTheirOwn) {
    ThreadPool pool(2);
    for (const Operator& op : structured_operators()) {
        const Structure& structure = op.structure();
        const Problem problem = noisy_problem(op, 0.15, 0.02, 20, 7, pool);
        for (const AmpShrink shrink : {AmpShrink::soft, AmpShrink::bernoulli_gaussian}) {
            const Batch x = solve_amp(op, problem.test.y, of_kind(shrink), pool).x;
            const Matrix<float> a = op.to_dense();
            const std::size_t u = structure.repeat();
            for (std::size_t k = 0; k < u; ++k)
                for (const Block& b : structure.parts()) {
                    const std::size_t row = k * structure.rows() / u + b.row;
                    const std::size_t col = k * structure.cols() / u + b.col;
                    Matrix<float> alone(b.rows, b.cols);
                    for (std::size_t i = 0; i < b.rows; ++i)
                        for (std::size_t j = 0; j < b.cols; ++j) alone(i, j) = a(row + i, col + j);
                    const auto y = problem.test.y.view().col_range(row, row + b.rows);
                    const Batch expected =
                        solve_amp(Operator::from_dense(alone), y, of_kind(shrink), pool).x;
                    // Products of a mask add in another order, and so small a problem may settle
                    // one step earlier for it.
                    for (std::size_t i = 0; i < 20; ++i)
                        for (std::size_t j = 0; j < b.cols; ++j)
                            EXPECT_NEAR(x(i, col + j), expected(i, j), 1e-3)
                                << to_string(structure.kind());
                }
        }
    }
}

/// A blur: neighbouring columns are nearly the same, far from the independent entries that AMP is
/// made for.
Operator blur(std::size_t n) {
    Matrix<float> a(n, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            const double distance = static_cast<double>(i) - static_cast<double>(j);
            if (std::abs(distance) <= 8)
                a(i, j) = static_cast<float>(std::exp(-distance * distance / 16));
        }
    return Operator::from_dense(a);
}

TEST(Amp, IsDampedWhereItDivergesAndStaysFinite) {
    ThreadPool pool(1);
    const Operator op = blur(60);
    const Problem problem = noisy_problem(op, 0.05, 0.02, 20, 8, pool);
    for (const AmpShrink shrink : {AmpShrink::soft, AmpShrink::bernoulli_gaussian}) {
        const Solution s = solve_amp(op, problem.test.y, of_kind(shrink), pool);
        EXPECT_TRUE(all_finite(s.x));
        EXPECT_GT(s.info.damped, 0u);
        EXPECT_LT(energy_nmse_db(problem.test.x, s.x), 1.0) << "no worse than to answer zero";
    }
}

TEST(Amp, TuningFindsTheBestAlpha) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(40, 80), 9);
    const Problem problem = noisy_problem(op, 0.06, 0.03, 100, 10, pool);
    const AmpSolver solver(op);
    const AmpChoice best = best_amp(solver, problem.train, {}, pool);
    EXPECT_EQ(best.options.damping, 1);
    const auto error = [&](double alpha) {
        return nmse_db(problem.train.x, solver.solve(problem.train.y, {.alpha = alpha}, pool).x);
    };
    EXPECT_NEAR(best.nmse_db, error(best.options.alpha), 1e-6);
    for (const double alpha : {0.8, 1.2, 1.4, 1.8, 2.5}) EXPECT_GE(error(alpha), best.nmse_db);
    EXPECT_GT(error(2.5), best.nmse_db + 1) << "a choice that matters";
}

TEST(Amp, TuningDampsWhereThatHelps) {
    ThreadPool pool(1);
    const Operator op = blur(60);
    const Problem problem = noisy_problem(op, 0.05, 0.02, 30, 11, pool);
    const AmpSolver solver(op);
    const AmpChoice best = best_amp(solver, problem.train, {}, pool);
    EXPECT_LT(best.nmse_db, 0) << "better than to answer zero";
    AmpOptions full = best.options;
    full.damping = 1;
    EXPECT_LE(best.nmse_db,
              nmse_db(problem.train.x, solver.solve(problem.train.y, full, pool).x) + 1e-6);
}

TEST(Amp, GivesTheSameBytesForAnyNumberOfThreads) {
    std::vector<Operator> operators = structured_operators();
    operators.push_back(gaussian(Structure::dense(25, 50), 12));
    for (const Operator& op : operators) {
        ThreadPool one(1);
        const Batch y = normal_batch(300, op.rows(), 13);
        const Batch x = solve_amp(op, y, of_kind(AmpShrink::bernoulli_gaussian), one).x;
        ThreadPool many(3);
        EXPECT_TRUE(
            same_bytes(x, solve_amp(op, y, of_kind(AmpShrink::bernoulli_gaussian), many).x));
    }
}

TEST(Amp, UnitsOfTheSignalMakeNoDifference) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(40, 80), 14);
    const Problem problem = noisy_problem(op, 0.06, 0.02, 10, 15, pool);
    const Batch x = solve_amp(op, problem.test.y, of_kind(AmpShrink::bernoulli_gaussian), pool).x;
    for (const double factor : {1e-9, 1e9}) {
        Batch y = problem.test.y;
        for (float& v : y.values()) v = static_cast<float>(v * factor);
        AmpOptions options = of_kind(AmpShrink::bernoulli_gaussian);
        options.prior.variance *= factor * factor;
        options.noise_std *= factor;
        const Batch scaled = solve_amp(op, y, options, pool).x;
        for (std::size_t i = 0; i < x.size(); ++i)
            EXPECT_NEAR(scaled.data()[i] / factor, x.data()[i], 1e-4);
    }
}

TEST(Amp, HandlesEmptyZeroAndUnseenEntries) {
    ThreadPool pool(1);
    Matrix<float> a = gaussian(Structure::dense(10, 20), 16).to_dense();
    for (std::size_t i = 0; i < 10; ++i) a(i, 3) = 0;
    const Operator op = Operator::from_dense(a);
    for (const AmpShrink shrink : {AmpShrink::soft, AmpShrink::bernoulli_gaussian}) {
        EXPECT_EQ(solve_amp(op, Batch(0, 10), of_kind(shrink), pool).x.rows(), 0u);
        const Solution zero = solve_amp(op, Batch(3, 10), of_kind(shrink), pool);
        for (const float v : zero.x.values()) EXPECT_EQ(v, 0.0F);
        EXPECT_EQ(zero.info.converged, 3u);
        const Solution some = solve_amp(op, normal_batch(5, 10, 17), of_kind(shrink), pool);
        EXPECT_TRUE(all_finite(some.x));
        for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(some.x(i, 3), 0.0F);
    }
}

TEST(Amp, RefusesWhatMakesNoSense) {
    ThreadPool pool(1);
    const Operator op = gaussian(Structure::dense(4, 6), 18);
    EXPECT_THROW(solve_amp(op, Batch(1, 5), {}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.alpha = -1}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.prior = {0, 1}}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.prior = {0.5, 0}}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.noise_std = -1}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.damping = 0}, pool), Error);
    EXPECT_THROW(solve_amp(op, Batch(1, 4), {.max_iterations = 0}, pool), Error);
    EXPECT_THROW(best_amp(AmpSolver(op), {Batch(1, 6), Batch(1, 4)}, {}, pool), Error);
}

TEST(BernoulliGaussian, OfSparseSignalsIsCounted) {
    ThreadPool pool(1);
    Batch x = draw_signals(SparsePrior{0.1, {}}, 500, 100, 19, Purpose::tests, pool);
    for (float& v : x.values()) v *= 3;
    const BernoulliGaussian law = BernoulliGaussian::of(x);
    EXPECT_NEAR(law.density, 0.1, 0.005);
    EXPECT_NEAR(law.variance, 9, 0.4);
    EXPECT_THROW(BernoulliGaussian::of(Batch(3, 4)), Error);
}

TEST(BernoulliGaussian, OfSignalsWithoutZerosHasTheirMoments) {
    ThreadPool pool(1);
    // A tenth of the entries is strong, the others faint: no entry is zero.
    Batch x = draw_signals(SparsePrior{0.1, {}}, 500, 100, 20, Purpose::tests, pool);
    const Batch faint = normal_batch(500, 100, 21);
    for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] += 0.01F * faint.data()[i];
    const BernoulliGaussian law = BernoulliGaussian::of(x);
    EXPECT_NEAR(law.density, 0.1, 0.01);
    EXPECT_NEAR(law.variance, 1, 0.1);
    EXPECT_NEAR(BernoulliGaussian::of(faint).density, 1, 0.05);
}

}  // namespace
}  // namespace pibinn
