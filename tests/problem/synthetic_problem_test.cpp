#include "pibinn/synthetic_problem.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

std::size_t nonzeros(std::span<const float> values) {
    return values.size() - static_cast<std::size_t>(std::count(values.begin(), values.end(), 0.0F));
}

TEST(Signals, HaveTheDensityAndUnitVariance) {
    ThreadPool pool(2);
    const Batch x = draw_signals(SparsePrior{.density = 0.05, .support = {}}, 4000, 100, 1,
                                 Purpose::train_signals, pool);
    const double count = static_cast<double>(nonzeros(x.values()));
    // A share of 0.95^100 = 0.6 % of the rows would be empty and gets one entry instead.
    const double expected = 400000 * 0.05 + 4000 * std::pow(0.95, 100);
    EXPECT_NEAR(count, expected, 5 * std::sqrt(400000 * 0.05 * 0.95));
    double square = 0;
    for (float v : x.values()) square += double{v} * v / count;
    EXPECT_NEAR(square, 1, 5 * std::sqrt(2 / count));
}

TEST(Signals, AreNeverAllZero) {
    ThreadPool pool(1);
    const Batch x = draw_signals(SparsePrior{.density = 1e-9, .support = {}}, 500, 10, 2,
                                 Purpose::train_signals, pool);
    std::vector<int> place(10, 0);
    for (std::size_t i = 0; i < 500; ++i) {
        ASSERT_EQ(nonzeros(x.row(i)), 1u);
        for (std::size_t j = 0; j < 10; ++j) place[j] += x(i, j) != 0 ? 1 : 0;
    }
    for (int count : place) EXPECT_NEAR(count, 50, 5 * std::sqrt(500 * 0.1 * 0.9));
}

TEST(Signals, OfAFixedSupportAreNonZeroThereAndNowhereElse) {
    ThreadPool pool(1);
    const Batch x =
        draw_signals(SparsePrior{.support = {1, 5, 9}}, 100, 10, 3, Purpose::train_signals, pool);
    for (std::size_t i = 0; i < 100; ++i)
        for (std::size_t j = 0; j < 10; ++j)
            EXPECT_EQ(x(i, j) != 0, j == 1 || j == 5 || j == 9) << i << ' ' << j;
}

TEST(Signals, RowsAreTheSameWhateverTheCountAndTheThreads) {
    ThreadPool one(1);
    ThreadPool three(3);
    const Batch many = draw_signals(SparsePrior{}, 300, 50, 4, Purpose::train_signals, three);
    const Batch few = draw_signals(SparsePrior{}, 70, 50, 4, Purpose::train_signals, one);
    EXPECT_TRUE(std::equal(few.values().begin(), few.values().end(), many.values().begin()));
    Batch noisy_many(300, 20);
    Batch noisy_few(70, 20);
    add_noise(noisy_many, 0.5, 4, Purpose::train_noise, three);
    add_noise(noisy_few, 0.5, 4, Purpose::train_noise, one);
    EXPECT_TRUE(std::equal(noisy_few.values().begin(), noisy_few.values().end(),
                           noisy_many.values().begin()));
}

TEST(Signals, NoiseHasItsDeviationAndZeroLeavesTheMeasurementAlone) {
    ThreadPool pool(1);
    Batch y(500, 100);
    for (float& v : y.values()) v = 1;
    add_noise(y, 0, 5, Purpose::test_noise, pool);
    for (float v : y.values()) ASSERT_EQ(v, 1.0F);
    add_noise(y, 0.2, 5, Purpose::test_noise, pool);
    double mean = 0;
    double square = 0;
    for (float v : y.values()) {
        mean += (v - 1.0) / 50000;
        square += (v - 1.0) * (v - 1.0) / 50000;
    }
    EXPECT_NEAR(mean, 0, 5 * 0.2 / std::sqrt(50000.0));
    EXPECT_NEAR(square, 0.04, 5 * 0.04 * std::sqrt(2 / 50000.0));
}

TEST(Signals, RefuseWhatMakesNoSense) {
    ThreadPool pool(1);
    const auto draw = [&](SparsePrior prior, std::size_t n) {
        draw_signals(prior, 1, n, 1, Purpose::tests, pool);
    };
    EXPECT_THROW(draw({.density = 0, .support = {}}, 5), Error);
    EXPECT_THROW(draw({.density = 1.5, .support = {}}, 5), Error);
    EXPECT_THROW(draw({.density = NAN, .support = {}}, 5), Error);
    EXPECT_THROW(draw({.support = {5}}, 5), Error);
    EXPECT_THROW(draw({}, 0), Error);
    Batch y(1, 1);
    EXPECT_THROW(add_noise(y, -1, 1, Purpose::tests, pool), Error);
    EXPECT_THROW(add_noise(y, INFINITY, 1, Purpose::tests, pool), Error);
}

TEST(SyntheticProblem, IsMeasuredByItsOperator) {
    ThreadPool pool(2);
    SyntheticSpec spec;
    spec.train = 30;
    spec.test = 20;
    const Problem p = make_synthetic(spec, 6, pool);
    EXPECT_EQ(p.train.x.rows(), 30u);
    EXPECT_EQ(p.test.x.rows(), 20u);
    EXPECT_EQ(p.train.y, p.op.apply(p.train.x, pool));
    EXPECT_EQ(p.test.y, p.op.apply(p.test.x, pool));
}

TEST(SyntheticProblem, TrainingAndTestSignalsDiffer) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.train = spec.test = 50;
    const Problem p = make_synthetic(spec, 7, pool);
    for (std::size_t i = 0; i < 50; ++i)
        for (std::size_t k = 0; k < 50; ++k)
            EXPECT_FALSE(std::ranges::equal(p.train.x.row(i), p.test.x.row(k)));
}

TEST(SyntheticProblem, NoiseIsAddedToTheMeasurementsOnly) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.train = spec.test = 200;
    const Problem clean = make_synthetic(spec, 8, pool);
    spec.noise_std = 0.1;
    const Problem noisy = make_synthetic(spec, 8, pool);
    EXPECT_EQ(noisy.noise_std, 0.1);
    EXPECT_EQ(noisy.train.x, clean.train.x);
    const auto power = [](const Batch& a, const Batch& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i)
            sum += std::pow(double{a.data()[i]} - double{b.data()[i]}, 2);
        return sum / static_cast<double>(a.size());
    };
    EXPECT_NEAR(power(noisy.train.y, clean.train.y), 0.01, 5 * 0.01 * std::sqrt(2 / 10000.0));
    EXPECT_NEAR(power(noisy.test.y, clean.test.y), 0.01, 5 * 0.01 * std::sqrt(2 / 10000.0));
}

TEST(SyntheticProblem, TakesTheStructureAskedFor) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.m = 4;
    spec.n = 6;
    spec.repeat = 3;
    spec.train = spec.test = 2;
    spec.structure = StructureKind::repeated;
    EXPECT_EQ(make_synthetic(spec, 9, pool).op.structure(), Structure::repeated(4, 6, 3));
    spec.structure = StructureKind::blocks;
    EXPECT_EQ(make_synthetic(spec, 9, pool).op.structure().links(), 72u);
    spec.structure = StructureKind::dense;
    EXPECT_EQ(make_synthetic(spec, 9, pool).op.structure(), Structure::dense(4, 6));
}

TEST(SyntheticProblem, TakesBlocksOfDifferentSizes) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.structure = StructureKind::blocks;
    spec.blocks = {{16, 32}, {5, 7}};
    spec.train = spec.test = 2;
    const Problem p = make_synthetic(spec, 9, pool);
    EXPECT_EQ(p.op.structure(), Structure::blocks(spec.blocks));
    EXPECT_EQ(p.train.x.cols(), 39u);
}

TEST(SyntheticProblem, DrawsAMaskThatLinksEveryRowAndColumn) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.structure = StructureKind::mask;
    spec.m = 200;
    spec.n = 400;
    spec.mask_density = 0.05;
    spec.train = spec.test = 2;
    const Structure s = make_synthetic(spec, 9, pool).op.structure();
    EXPECT_NEAR(static_cast<double>(s.links()) / 80000, 0.05, 5 * std::sqrt(0.05 * 0.95 / 80000));
    EXPECT_EQ(make_synthetic(spec, 9, pool).op.structure(), s);
    EXPECT_FALSE(make_synthetic(spec, 10, pool).op.structure() == s);
    // So few that most rows and columns get their only link from the rule that none goes without;
    // the structure itself refuses the others.
    for (const auto& [m, n] : {std::pair{30, 7}, std::pair{7, 30}, std::pair{1, 1}}) {
        spec.m = static_cast<std::size_t>(m);
        spec.n = static_cast<std::size_t>(n);
        spec.mask_density = 1e-6;
        EXPECT_LE(make_synthetic(spec, 9, pool).op.structure().links(), spec.m + spec.n);
        spec.mask_density = 1;
        EXPECT_EQ(make_synthetic(spec, 9, pool).op.structure().links(), spec.m * spec.n);
    }
    spec.mask_density = 0;
    EXPECT_THROW(make_synthetic(spec, 9, pool), Error);
}

}  // namespace
}  // namespace pibinn
