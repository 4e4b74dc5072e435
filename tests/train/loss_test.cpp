#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/train.hpp"
#include "train/small_problem.hpp"

namespace pibinn {
namespace {

using testing::small_problem;

TEST(Loss, LogNormIsTheSumOfNormsInTheUnitOfTheBatch) {
    ThreadPool pool(2);
    const Problem problem = small_problem(pool);
    const auto first_losses = [&](LossKind loss) {
        TrainJob job;
        job.problem = &problem;
        job.spec.layers = 3;
        job.spec.weights = WeightKind::tied;
        job.recipe = named_recipe("default", job.spec);
        job.recipe.augment = Augment::none;
        for (Stage& stage : job.recipe.stages) stage.epochs = 2;
        job.recipe.batch = problem.train.x.rows();
        job.recipe.loss = loss;
        const TrainResult result = train(job, pool);
        return std::pair{result.history[0].loss, result.history[1].loss};
    };
    double energy = 0;
    for (const float v : problem.train.x.values()) energy += double{v} * v;
    energy /= static_cast<double>(problem.train.x.rows());
    const auto norm = first_losses(LossKind::norm);
    const auto log_norm = first_losses(LossKind::log_norm);
    EXPECT_NEAR(log_norm.first * std::sqrt(energy), norm.first, 1e-5 * norm.first);
    EXPECT_LT(log_norm.second, log_norm.first);
}

}  // namespace
}  // namespace pibinn
