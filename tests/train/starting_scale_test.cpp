#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "pibinn/train.hpp"
#include "train/optimiser.hpp"

namespace pibinn {
namespace {

/// Twenty plain one-bit layers for signals of one entry: thresholds that float weights leave behind
/// do not hold back the scale that is best for more entries.
struct FewEntries {
    FewEntries() {
        SyntheticSpec drawn;
        drawn.prior.density = 0.01;
        drawn.train = 250;
        drawn.test = 50;
        problem = make_synthetic(drawn, 1, pool);
        job.problem = &problem;
        job.spec.layers = 20;
        job.spec.update = Update::plain();
        job.recipe = recipe_for(problem, job.spec);
        for (Stage& stage : job.recipe.stages) stage.epochs = 4;
    }
    Stage& joint() { return job.recipe.stages[1]; }

    ThreadPool pool{2};
    Problem problem;
    TrainJob job;
};

TEST(StartingScale, IsLoweredWhereTheNetworkWouldDiverge) {
    FewEntries few;
    const double recipes = few.joint().scale;
    const TrainResult result = train(few.job, few.pool);
    EXPECT_TRUE(result.finished);
    EXPECT_LT(result.model.scale(), recipes);
}

TEST(StartingScale, IsObeyedWhereItWasStated) {
    FewEntries few;
    few.joint().fit_scale = false;
    try {
        train(few.job, few.pool);
        FAIL() << "not diverged";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::failed);
        EXPECT_NE(error.message().find("stage 'joint'"), std::string::npos) << error.message();
        EXPECT_NE(error.hint().find("scale"), std::string::npos) << error.hint();
    }
}

TEST(StartingScale, StaysWhereTheNetworkDoesNotDiverge) {
    FewEntries few;
    few.job.spec.layers = 5;
    few.job.recipe = recipe_for(few.problem, few.job.spec);
    for (Stage& stage : few.job.recipe.stages) stage.epochs = 2;
    TrainJob stated = few.job;
    fit_recipe(few.problem.op, stated.recipe);
    stated.recipe.stages[1].lower_scale = false;
    const TrainResult usual = train(few.job, few.pool), other = train(stated, few.pool);
    ASSERT_EQ(usual.history.size(), other.history.size());
    for (std::size_t e = 0; e < usual.history.size(); ++e)
        EXPECT_EQ(usual.history[e].loss, other.history[e].loss);
}

}  // namespace
}  // namespace pibinn
