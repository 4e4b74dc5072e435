#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"

namespace pibinn {
namespace {

struct Arrays {
    ThreadPool pool{1};
    ArrayProblem given;

    Arrays() {
        SyntheticSpec spec;
        spec.m = 20;
        spec.n = 40;
        spec.train = 300;
        spec.test = 1;
        spec.prior.density = 0.1;
        const Problem drawn = make_synthetic(spec, 3, pool);
        given.op = drawn.op;
        given.x = drawn.train.x;
    }
    Problem problem() { return Problem::from_arrays(given, pool); }
};

double ratio_db(const Problem& problem, std::size_t row, ThreadPool& pool) {
    const Batch clean = problem.op.apply(problem.train.x, pool);
    double power = 0, noise = 0;
    for (std::size_t j = 0; j < clean.cols(); ++j) {
        const double n = problem.train.y(row, j) - clean(row, j);
        power += double{clean(row, j)} * clean(row, j);
        noise += n * n;
    }
    return 10 * std::log10(power / noise);
}

TEST(ArrayProblem, NoiseIsRelativeToEachSignalWhereARatioIsAsked) {
    Arrays arrays;
    arrays.given.snr_db = SnrRange{20, 20};
    Batch x = arrays.given.x.to_float32();
    for (float& v : x.row(1)) v *= 1000;
    arrays.given.x = std::move(x);
    const Problem problem = arrays.problem();
    EXPECT_TRUE(problem.traits().disturbed);
    double mean = 0;
    for (std::size_t i = 0; i < problem.train.x.rows(); ++i)
        mean += ratio_db(problem, i, arrays.pool) / static_cast<double>(problem.train.x.rows());
    EXPECT_NEAR(mean, 20, 0.5);
    EXPECT_NEAR(ratio_db(problem, 1, arrays.pool), 20, 5);
}

TEST(ArrayProblem, ARangeOfRatiosIsDrawnOverItsWholeWidth) {
    Arrays arrays;
    arrays.given.snr_db = SnrRange{10, 40};
    const Problem problem = arrays.problem();
    double least = 1e9, most = -1e9;
    for (std::size_t i = 0; i < problem.train.x.rows(); ++i) {
        const double db = ratio_db(problem, i, arrays.pool);
        least = std::min(least, db);
        most = std::max(most, db);
    }
    EXPECT_LT(least, 13);
    EXPECT_GT(most, 37);
}

TEST(ArrayProblem, NoiseIsSaidInOneWayAndNotForGivenMeasurements) {
    Arrays arrays;
    arrays.given.snr_db = SnrRange{20, 20};
    arrays.given.noise_std = 0.1;
    EXPECT_THROW(arrays.problem(), Error);
    arrays.given.noise_std = 0;
    arrays.given.y = arrays.given.op.apply(arrays.given.x.to_float32(), arrays.pool);
    EXPECT_THROW(arrays.problem(), Error);
    arrays.given.y = {};
    arrays.given.snr_db = SnrRange{30, 20};
    EXPECT_THROW(arrays.problem(), Error);
}

TEST(ArrayProblem, MeasurementsThatTheOperatorExplainsLendTheirNoiseToNewSignals) {
    Arrays arrays;
    Batch y = arrays.given.op.apply(arrays.given.x.to_float32(), arrays.pool);
    add_noise(y, SnrRange{20, 20}, 7, Purpose::tests, arrays.pool);
    arrays.given.y = std::move(y);
    const Problem problem = arrays.problem();
    EXPECT_TRUE(problem.warnings.empty());
    EXPECT_NEAR(problem.unexplained, 0.0099, 0.001);
    EXPECT_TRUE(problem.traits().measurable);
    // The same signals measured anew differ from the given ones by nothing but the noise's sign.
    Batch again(problem.train.x.rows(), 20);
    sense(problem, Split::train, problem.train.x, again, 1, 0, arrays.pool);
    const Batch clean = problem.op.apply(problem.train.x, arrays.pool);
    std::size_t same = 0, turned = 0;
    for (std::size_t i = 0; i < again.rows(); ++i) {
        const float given = problem.train.y(i, 0) - clean(i, 0), now = again(i, 0) - clean(i, 0);
        same += std::abs(now - given) < 1e-5F;
        turned += std::abs(now + given) < 1e-5F;
    }
    EXPECT_GE(same + turned, again.rows());
    EXPECT_GT(same, 80u);
    EXPECT_GT(turned, 80u);
}

TEST(ArrayProblem, MeasurementsOfOtherSignalsAreWarnedOf) {
    Arrays arrays;
    const Batch y = arrays.given.op.apply(arrays.given.x.to_float32(), arrays.pool);
    Batch next = y;
    for (std::size_t i = 0; i < y.rows(); ++i)
        for (std::size_t j = 0; j < y.cols(); ++j) next(i, j) = y((i + 1) % y.rows(), j);
    arrays.given.y = std::move(next);
    const Problem problem = arrays.problem();
    ASSERT_EQ(problem.warnings.size(), 1u);
    EXPECT_NE(problem.warnings[0].find("not close to A x"), std::string::npos);
    EXPECT_FALSE(problem.traits().measurable);
}

}  // namespace
}  // namespace pibinn
