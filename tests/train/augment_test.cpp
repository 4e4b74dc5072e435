#include "train/augment.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/train.hpp"
#include "train/small_problem.hpp"

namespace pibinn {
namespace {

using testing::small_problem;

/// Its coefficients are those of a cosine basis.
Problem problem_of_segments(ThreadPool& pool) {
    Problem problem = small_problem(pool);
    problem.domain.basis = Basis::named(BasisKind::dct, 20);
    return problem;
}

TEST(Augment, KeepsMagnitudesAndMeasuresAnew) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool);
    for (auto augment : {Augment::signs, Augment::roll}) {
        DataSet set;
        augment_epoch(augment, problem, problem.train.x.rows(), 1, 0, set, pool);
        DataSet other;
        augment_epoch(augment, problem, problem.train.x.rows(), 1, 1, other, pool);
        EXPECT_NE(set.x, other.x) << "epochs must differ";
        EXPECT_EQ(problem.op.apply(set.x, pool), set.y);
        for (std::size_t i = 0; i < set.x.rows(); ++i) {
            std::vector<float> a, b;
            for (float v : problem.train.x.row(i)) a.push_back(std::abs(v));
            for (float v : set.x.row(i)) b.push_back(std::abs(v));
            if (augment == Augment::roll) {
                std::sort(a.begin(), a.end());
                std::sort(b.begin(), b.end());
            }
            ASSERT_EQ(a, b);
        }
    }
    problem.noise_std = 0.1;
    DataSet noisy;
    augment_epoch(Augment::noise, problem, problem.train.x.rows(), 1, 0, noisy, pool);
    EXPECT_EQ(noisy.x, problem.train.x);
    EXPECT_NE(noisy.y, problem.train.y);
}

TEST(Augment, FreshSignalsFollowThePriorAndNeverComeTwice) {
    ThreadPool one(1), three(3);
    const Problem problem = small_problem(one);
    const std::size_t rows = problem.train.x.rows();
    DataSet set, same, next;
    augment_epoch(Augment::fresh, problem, rows, 1, 0, set, one);
    augment_epoch(Augment::fresh, problem, rows, 1, 0, same, three);
    augment_epoch(Augment::fresh, problem, rows, 1, 1, next, one);
    EXPECT_EQ(set.x, same.x) << "threads must not matter";
    EXPECT_NE(set.x, next.x);
    EXPECT_NE(set.x, problem.train.x);
    EXPECT_EQ(problem.op.apply(set.x, one), set.y);
    std::size_t alive = 0;
    for (const float v : set.x.values()) alive += v != 0;
    EXPECT_NEAR(static_cast<double>(alive) / static_cast<double>(set.x.size()), 0.12, 0.03);
    std::set<float> first;
    for (std::size_t i = 0; i < rows; ++i)
        for (const float v : set.x.row(i))
            if (v != 0) first.insert(v);
    for (const float v : next.x.values()) EXPECT_FALSE(first.contains(v));
}

TEST(Augment, FreshIsOfDrawnProblemsOnly) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool);
    EXPECT_EQ(recipe_for(problem, {}).augment, Augment::fresh);
    EXPECT_NO_THROW(require_augment(Augment::fresh, problem.traits()));
    problem.prior.reset();
    EXPECT_EQ(recipe_for(problem, {}).augment, Augment::roll);
    EXPECT_THROW(require_augment(Augment::fresh, problem.traits()), Error);
}

TEST(Augment, DrawsNoiseAndArtefactsOfSignalsAfreshEveryEpoch) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool);
    problem.train_disturbance.artefacts = problem.test.x;
    problem.train_disturbance.least_snr_db = problem.train_disturbance.most_snr_db = 20;
    const std::string before = data_fingerprint(problem);
    problem.train_disturbance.noise_std = 0.01;
    EXPECT_NE(data_fingerprint(problem), before);
    DataSet first, second, again;
    augment_epoch(Augment::noise, problem, problem.train.x.rows(), 1, 0, first, pool);
    augment_epoch(Augment::noise, problem, problem.train.x.rows(), 1, 1, second, pool);
    augment_epoch(Augment::noise, problem, problem.train.x.rows(), 1, 0, again, pool);
    EXPECT_EQ(first.x, problem.train.x) << "the target stays clean";
    EXPECT_NE(first.y, second.y);
    EXPECT_EQ(first.y, again.y);
    double noise = 0, energy = 0;
    for (std::size_t i = 0; i < first.y.size(); ++i) {
        noise += std::pow(first.y.data()[i] - problem.train.y.data()[i], 2);
        energy += std::pow(problem.train.y.data()[i], 2);
    }
    EXPECT_NEAR(10 * std::log10(energy / noise), 19.5, 1.5);
}

TEST(Augment, TurnsSegmentsAroundByChance) {
    ThreadPool pool(1);
    const Problem problem = problem_of_segments(pool);
    DataSet set;
    augment_epoch(Augment::flip, problem, problem.train.x.rows(), 1, 0, set, pool);
    std::size_t turned = 0;
    for (std::size_t i = 0; i < set.x.rows(); ++i) {
        // Of a cosine basis, turning around changes the sign of every odd coefficient.
        double same = 0, other = 0;
        for (std::size_t j = 0; j < 20; ++j) {
            const double was = problem.train.x(i, j);
            same = std::max(same, std::abs(set.x(i, j) - was));
            other = std::max(other, std::abs(set.x(i, j) - (j % 2 ? -was : was)));
        }
        ASSERT_LT(std::min(same, other), 1e-5) << "row " << i;
        turned += other < 1e-5 && same > 1e-5;
    }
    const double rows = static_cast<double>(set.x.rows());
    EXPECT_NEAR(static_cast<double>(turned), rows / 2, rows / 5);
    EXPECT_EQ(set.y, problem.op.apply(set.x, pool));
}

TEST(Augment, MixesPairsOfTrainedSignalsAndKeepsTheirEnergy) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool);
    const std::size_t rows = problem.train.x.rows();
    const std::size_t n = problem.train.x.cols();
    // Signal i is a single number at i % 5, the last half, for validation, at 10 + i % 5.
    const std::size_t trained = rows / 2;
    for (std::size_t i = 0; i < rows; ++i) {
        auto row = problem.train.x.row(i);
        std::fill(row.begin(), row.end(), 0.0F);
        row[(i < trained ? 0 : 10) + i % 5] = 1.0F + static_cast<float>(i % 7);
    }
    DataSet set, again, later;
    augment_epoch(Augment::mix, problem, trained, 1, 0, set, pool);
    augment_epoch(Augment::mix, problem, trained, 1, 0, again, pool);
    augment_epoch(Augment::mix, problem, trained, 1, 1, later, pool);
    EXPECT_EQ(set.x, again.x);
    EXPECT_NE(set.x, later.x);
    EXPECT_EQ(set.y, problem.op.apply(set.x, pool));
    std::size_t mixed = 0, negative = 0;
    for (std::size_t i = 0; i < trained; ++i) {
        std::size_t entries = 0;
        double energy = 0;
        for (std::size_t j = 0; j < n; ++j) {
            entries += set.x(i, j) != 0;
            energy += std::pow(set.x(i, j), 2);
            negative += set.x(i, j) < 0;
            // Turned around, entry j is n - 1 - j: only what was at 10 to 14 comes to 5 to 9.
            EXPECT_TRUE(set.x(i, j) == 0 || j < 5 || j >= n - 5) << "mixed with a validation row";
        }
        EXPECT_NEAR(energy, std::pow(1.0 + static_cast<double>(i % 7), 2), 1e-3) << "row " << i;
        EXPECT_LE(entries, 2u);
        mixed += entries == 2;
    }
    EXPECT_GT(mixed, trained / 4);
    EXPECT_LT(mixed, trained * 3 / 4);
    EXPECT_GT(negative, 0u);
}

TEST(Augment, MirrorsPatchesInEveryWay) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool, Structure::dense(5, 9));
    problem.domain.patch = 3;
    for (std::size_t i = 0; i < problem.train.x.rows(); ++i)
        for (std::size_t j = 0; j < 9; ++j) problem.train.x(i, j) = static_cast<float>(j);
    DataSet set;
    augment_epoch(Augment::flip, problem, problem.train.x.rows(), 1, 0, set, pool);
    std::set<std::vector<float>> seen;
    for (std::size_t i = 0; i < set.x.rows(); ++i) {
        const auto row = set.x.row(i);
        EXPECT_EQ(row[4], 4) << "the centre stays";
        EXPECT_EQ(row[0] + row[8], 8) << "opposite corners stay opposite";
        EXPECT_EQ(row[2] + row[6], 8);
        EXPECT_EQ(row[1], (row[0] + row[2]) / 2) << "edges stay between their corners";
        EXPECT_EQ(row[3], (row[0] + row[6]) / 2);
        seen.insert({row.begin(), row.end()});
    }
    EXPECT_EQ(seen.size(), 8u);
}

TEST(Augment, ShiftsInTimeWhateverTheBasis) {
    ThreadPool pool(1);
    const Problem problem = problem_of_segments(pool);
    DataSet set;
    augment_epoch(Augment::shift, problem, problem.train.x.rows(), 1, 0, set, pool);
    const Batch before = problem.domain.to_signals(problem.train.x, pool);
    const Batch after = problem.domain.to_signals(set.x, pool);
    std::set<std::size_t> shifts;
    for (std::size_t i = 0; i < before.rows(); ++i) {
        std::size_t found = 20;
        for (std::size_t s = 0; s < 20 && found == 20; ++s) {
            double gap = 0;
            for (std::size_t t = 0; t < 20; ++t)
                gap = std::max(gap, std::abs(double{after(i, t)} - before(i, (t + s) % 20)));
            if (gap < 1e-5) found = s;
        }
        ASSERT_LT(found, 20u) << "row " << i << " is no shift of what it was";
        shifts.insert(found);
    }
    EXPECT_GT(shifts.size(), 10u);
    EXPECT_EQ(set.y, problem.op.apply(set.x, pool));
}

}  // namespace
}  // namespace pibinn
