#include <gtest/gtest.h>

#include "core/contains.hpp"
#include "pibinn/amp.hpp"
#include "pibinn/beamspace_problem.hpp"
#include "pibinn/error.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/support_detection.hpp"
#include "solvers/textbook_complex.hpp"

namespace pibinn {
namespace {

using namespace testing;

TEST(Groups, IstaIsTheTextbooksOnComplexNumbers) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(12, 24)) {
        const DataSet set = c.pairs(20, 3, 0.05, 1);
        LassoOptions options{.method = LassoMethod::ista,
                             .lambda = 0.2,
                             .unit = LambdaUnit::absolute,
                             .max_iterations = 25,
                             .tolerance = 0,
                             .grouping = c.grouping};
        expect_textbook(c, solve_lasso(c.op, set.y, options, pool).x, set.y, 2e-5,
                        [&](const Complex& y) { return textbook_ista(c.a, y, 0.2, 25); });
    }
}

TEST(Groups, FistaEndsWhereIstaDoes) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(12, 20)) {
        const DataSet set = c.pairs(5, 3, 0.05, 2);
        const LassoOptions options{.lambda = 0.3,
                                   .unit = LambdaUnit::absolute,
                                   .max_iterations = 3000,
                                   .tolerance = 1e-8,
                                   .grouping = c.grouping};
        expect_textbook(c, solve_lasso(c.op, set.y, options, pool).x, set.y, 2e-4,
                        [&](const Complex& y) { return textbook_ista(c.a, y, 0.3, 3000); });
    }
}

TEST(Groups, RelativeLambdasAreSharesOfTheLargestGroup) {
    ThreadPool pool(1);
    for (const ComplexCase& c : complex_cases(12, 20)) {
        const DataSet set = c.pairs(5, 3, 0.05, 3);
        for (const double share : {0.999, 1.001}) {
            const LassoOptions options{.lambda = share, .grouping = c.grouping};
            const Batch x = solve_lasso(c.op, set.y, options, pool).x;
            for (std::size_t i = 0; i < x.rows(); ++i)
                EXPECT_EQ(c.matrix(x, i).norm() > 0, share < 1) << c.name;
        }
    }
}

TEST(Groups, OmpIsTheTextbooksOnComplexNumbers) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(14, 40)) {
        const DataSet set = c.pairs(30, 3, 0.1, 4);
        for (const std::size_t sparsity : {1u, 3u, 6u}) {
            const Solution s =
                solve_omp(c.op, set.y, {.sparsity = sparsity, .tolerance = 0}, pool, c.grouping);
            EXPECT_EQ(s.info.max_iterations, sparsity);
            expect_textbook(c, s.x, set.y, 1e-5, [&](const Complex& y) {
                return textbook_complex_omp(c.a, y, static_cast<int>(sparsity));
            });
        }
    }
}

TEST(Groups, OmpOfWideOperatorsGoesWithoutTheGram) {
    ThreadPool pool(1);
    for (const ComplexCase& c : complex_cases(10, 2100)) {
        const DataSet set = c.pairs(2, 3, 0.1, 5);
        const Solution s = solve_omp(c.op, set.y, {.sparsity = 3}, pool, c.grouping);
        expect_textbook(c, s.x, set.y, 1e-5,
                        [&](const Complex& y) { return textbook_complex_omp(c.a, y, 3); });
    }
}

TEST(Groups, OmpStopsAtTheNoiseOfAllRowsAndTheOracleFitsWholeGroups) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(20, 40)) {
        const DataSet set = c.pairs(60, 3, 0.02, 6);
        const OmpSolver solver(c.op, pool, c.grouping);
        const OmpChoice choice = solver.best_stops(set, {.deviation = 0.02}, pool).best();
        EXPECT_LT(choice.nmse_db, -20) << c.name;
        EXPECT_NEAR(choice.nmse_db, nmse_db(set.x, solver.solve(set.y, choice.options, pool).x),
                    1e-4);
        const Solution s = solver.solve(set.y, {.noise_std = 0.02}, pool);
        EXPECT_NEAR(s.info.mean_iterations, 3, 1.0) << c.name;
        // A part that happens to be zero is fitted with the rest of its group.
        Batch truth = set.x;
        const std::size_t n = static_cast<std::size_t>(c.a.cols());
        std::vector<int> support;
        for (std::size_t j = 0; j < n; ++j)
            if (truth(0, j) != 0) support.push_back(static_cast<int>(j));
        truth(0, static_cast<std::size_t>(support[0])) = 0;
        const Complex expected = least_squares_on(c.a, c.matrix(set.y, 0), support);
        const Batch fitted = solver.fit_support(truth, set.y, pool);
        EXPECT_LE((c.matrix(fitted, 0) - expected).norm(), 1e-5 * (1 + expected.norm())) << c.name;
    }
}

TEST(Groups, AmpIsTheTextbooksOnComplexNumbers) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(60, 90)) {
        const DataSet set = c.pairs(8, 5, 0.05, 7);
        AmpOptions soft{.alpha = 1.3, .max_iterations = 12, .tolerance = 0};
        const Solution s = solve_amp(c.op, set.y, soft, pool, c.grouping);
        EXPECT_EQ(s.info.damped, 0u);
        expect_textbook(c, s.x, set.y, 1e-4, [&](const Complex& y) {
            return textbook_complex_amp(c.a, y, 1.3, 0, 0, 12);
        });
        AmpOptions bg{.shrink = AmpShrink::bernoulli_gaussian,
                      .prior = {0.06, 0.9},
                      .max_iterations = 12,
                      .tolerance = 0};
        expect_textbook(
            c, solve_amp(c.op, set.y, bg, pool, c.grouping).x, set.y, 1e-4,
            [&](const Complex& y) { return textbook_complex_amp(c.a, y, 0, 0.06, 0.9, 12); });
    }
}

TEST(Groups, TheLawOfGroupsIsThatOfTheirPrior) {
    for (const ComplexCase& c : complex_cases(4, 40)) {
        const DataSet set = c.pairs(400, 6, 0, 8);
        const auto law = BernoulliGaussian::of(set.x, c.op.structure(), c.grouping);
        EXPECT_NEAR(law.density, 6.0 / 40, 1e-6) << c.name;
        EXPECT_NEAR(law.variance, 1, 0.06) << c.name;
        // All entries present: by moments, for which faint ones count little.
        const DataSet full = c.pairs(400, 40, 0, 9);
        Batch x = full.x;
        const std::size_t n = 40;
        for (std::size_t i = 0; i < x.rows(); ++i)
            for (std::size_t j = 0; j < x.cols(); ++j)
                if (j % n >= 6) x(i, j) *= 1e-3F;
        const auto moments = BernoulliGaussian::of(x, c.op.structure(), c.grouping);
        EXPECT_NEAR(moments.density, 6.0 / 40, 0.02) << c.name;
        EXPECT_NEAR(moments.variance, 1, 0.1) << c.name;
    }
}

TEST(Groups, TheLinearEstimatorIsComplexLinear) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(6, 9)) {
        const DataSet set = c.pairs(300, 3, 0.1, 10);
        const double ridge = 1e-3;
        const auto estimator = LinearEstimator::fit(c.op.structure(), set, {.ridge = ridge}, pool);
        Complex xy = Complex::Zero(9, 6), yy = Complex::Zero(6, 6);
        for (std::size_t i = 0; i < 300; ++i) {
            const Complex x = c.matrix(set.x, i), y = c.matrix(set.y, i);
            xy += x * y.adjoint();
            yy += y * y.adjoint();
        }
        if (c.grouping.halves == 1) {  // one real matrix for both parts
            xy = xy.real().cast<std::complex<double>>();
            yy = yy.real().cast<std::complex<double>>();
        }
        yy += ridge * yy.real().trace() / 6 * Complex::Identity(6, 6);
        const Complex m = xy * yy.inverse();
        expect_textbook(c, estimator.recover(set.y, pool), set.y, 1e-5,
                        [&](const Complex& y) { return Complex(m * y); });
        const std::size_t numbers = 9 * 6 * c.grouping.halves;
        EXPECT_EQ(estimator.stored_bits(), 32 * numbers);
        EXPECT_EQ(estimator.rounded_to_int8().stored_bits(), 8 * numbers + 32 * 9);
    }
}

TEST(SupportDetection, IsTheTextbooksOnComplexNumbers) {
    ThreadPool pool(2);
    for (const ComplexCase& c : complex_cases(30, 48)) {
        const DataSet set = c.pairs(20, 4, 0.1, 11);
        const SupportDetection solver(c.op, c.grouping, pool);
        for (const auto& [paths, width] :
             std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {2, 5}, {3, 4}})
            expect_textbook(c, solver.solve(set.y, {paths, width}, pool).x, set.y, 1e-4,
                            [&, p = paths, w = width](const Complex& y) {
                                return textbook_support_detection(c.a, y, static_cast<int>(p),
                                                                  static_cast<int>(w));
                            });
    }
}

TEST(SupportDetection, ChoosesAWidthThatSuitsChannels) {
    ThreadPool pool(2);
    BeamspaceSpec spec;
    spec.prior.antennas = 128;
    spec.measurements = 64;
    spec.train = 300;
    spec.test = 1;
    spec.snr_db = {15, 15};
    const Problem problem = make_beamspace(spec, 1, pool);
    const SupportDetection solver(problem.op, {2, 1}, pool);
    const auto choice = best_width(solver, problem.train, 3, pool);
    EXPECT_EQ(choice.options.paths, 3u);
    EXPECT_GE(choice.options.width, 4u);
    EXPECT_LE(choice.options.width, 16u);
    const double own =
        nmse_db(problem.train.x, solver.solve(problem.train.y, choice.options, pool).x);
    EXPECT_NEAR(own, choice.nmse_db, 1e-4);
    EXPECT_LT(own, nmse_db(problem.train.x, solver.solve(problem.train.y, {3, 1}, pool).x) - 3);
}

TEST(Groups, GiveTheSameBytesOnAnyNumberOfThreads) {
    ThreadPool one(1), three(3);
    for (const ComplexCase& c : complex_cases(12, 24)) {
        const DataSet set = c.pairs(200, 3, 0.05, 12);
        const LassoOptions lasso{.max_iterations = 30, .grouping = c.grouping};
        EXPECT_TRUE(same_bytes(solve_lasso(c.op, set.y, lasso, one).x,
                               solve_lasso(c.op, set.y, lasso, three).x));
        EXPECT_TRUE(same_bytes(solve_omp(c.op, set.y, {}, one, c.grouping).x,
                               solve_omp(c.op, set.y, {}, three, c.grouping).x));
        EXPECT_TRUE(same_bytes(solve_amp(c.op, set.y, {}, one, c.grouping).x,
                               solve_amp(c.op, set.y, {}, three, c.grouping).x));
        const SupportDetection solver(c.op, c.grouping, one);
        EXPECT_TRUE(
            same_bytes(solver.solve(set.y, {2, 3}, one).x, solver.solve(set.y, {2, 3}, three).x));
    }
}

TEST(Groups, ThatDoNotFitAreRefused) {
    ThreadPool pool(1);
    const auto refusal = [&](const Structure& s, const Grouping& grouping) -> std::string {
        try {
            OmpSolver(gaussian(s, 1), pool, grouping);
        } catch (const Error& e) {
            return std::string(e.message());
        }
        return "nothing was refused";
    };
    EXPECT_PRED2(contains, refusal(Structure::repeated(3, 5, 4), {3, 1}),
                 "groups over 3 repetitions of an operator that has 4");
    EXPECT_PRED2(contains, refusal(Structure::dense(3, 5), {0, 1}), "groups over 0 repetitions");
    EXPECT_PRED2(contains, refusal(Structure::dense(3, 5), {1, 2}), "no halves");
    EXPECT_PRED2(contains, refusal(three_blocks(), {1, 2}), "no halves");
    EXPECT_PRED2(contains, refusal(Structure::dense(3, 6), {1, 3}), "3 parts");
    EXPECT_THROW(AmpSolver(gaussian(Structure::dense(3, 5), 1), {2, 1}), Error);
    const Operator op = gaussian(Structure::repeated(12, 20, 2), 1);
    EXPECT_THROW(solve_lasso(op, Batch(1, 24), {.grouping = {3, 1}}, pool), Error);
    EXPECT_THROW(SupportDetection(op, {1, 1}, pool), Error);
    const SupportDetection solver(op, {2, 1}, pool);
    for (const SupportDetectionOptions& options :
         {SupportDetectionOptions{0, 4}, SupportDetectionOptions{3, 0},
          SupportDetectionOptions{3, 5}})
        EXPECT_THROW(solver.solve(Batch(1, 24), options, pool), Error);
    EXPECT_NO_THROW(solver.solve(Batch(1, 24), {3, 4}, pool));
}

}  // namespace
}  // namespace pibinn
