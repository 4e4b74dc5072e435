#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/train.hpp"
#include "train/small_problem.hpp"

namespace pibinn {
namespace {

using testing::small_problem;

TEST(Loss, LogNormIsThePowerOfANormInTheUnitOfTheBatch) {
    ThreadPool pool(2);
    Problem problem = small_problem(pool);
    // Of one signal alone: a sum of powers is then a power of the norm.
    for (Batch* rows : {&problem.train.x, &problem.train.y}) {
        Batch first(1, rows->cols());
        std::copy(rows->row(0).begin(), rows->row(0).end(), first.row(0).begin());
        *rows = std::move(first);
    }
    const auto losses = [&](LossKind loss) {
        TrainJob job;
        job.problem = &problem;
        job.spec.layers = 3;
        job.spec.weights = WeightKind::tied;
        job.recipe = named_recipe("default", job.spec);
        job.recipe.augment = Augment::none;
        for (Stage& stage : job.recipe.stages) stage.epochs = 20;
        job.recipe.batch = 1;
        job.recipe.loss = loss;
        const TrainResult result = train(job, pool);
        return std::pair{result.history[0].loss, result.history[19].loss};
    };
    double energy = 0;
    for (const float v : problem.train.x.values()) energy += double{v} * v;
    const double norm = losses(LossKind::norm).first;
    const auto [first, last] = losses(LossKind::log_norm);
    ASSERT_GT(energy, 0);
    EXPECT_NEAR(first, std::pow(norm / std::sqrt(energy), 1.2), 1e-5);
    EXPECT_LT(last, first);
}

}  // namespace
}  // namespace pibinn
