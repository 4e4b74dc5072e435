#include "algebra/backend.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/train.hpp"
#include "train/remote_backend.hpp"
#include "train/small_problem.hpp"
#include "train/trainer.hpp"

namespace pibinn {
namespace {

Recipe short_recipe(const NetworkSpec& spec) {
    Recipe recipe = named_recipe("default", spec);
    for (Stage& stage : recipe.stages) stage.epochs = 2;
    recipe.batch = 50;
    recipe.validation = 0.1;
    return recipe;
}

TrainState trained_on(Backend& backend, const Problem& problem, const NetworkSpec& spec) {
    ThreadPool pool(1);
    Trainer trainer(problem, spec, short_recipe(spec), 3, backend, pool);
    while (!trainer.done()) trainer.run_epoch();
    return trainer.snapshot();
}

TEST(Backend, TrainingNeedsNothingButItsOperations) {
    ThreadPool pool(1);
    const Problem problem = testing::small_problem(pool);
    for (const WeightKind kind : weight_kinds())
        for (const Activation activation : {Activation::soft, Activation::hard}) {
            NetworkSpec spec;
            spec.layers = 3;
            spec.weights = kind;
            spec.activation = activation;
            testing::RemoteBackend remote;
            const TrainState there = trained_on(remote, problem, spec);
            const TrainState here = trained_on(*make_cpu_backend(), problem, spec);
            EXPECT_EQ(there.latent, here.latent) << to_string(kind);
            EXPECT_EQ(there.second, here.second) << to_string(kind);
            EXPECT_GT(remote.operations, 100u);
        }
}

TEST(Backend, ABuildWithoutCudaRefusesItByName) {
    EXPECT_NE(make_backend("cpu"), nullptr);
    try {
        make_backend("cuda");
        FAIL() << "a CUDA device where there is none";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_EQ(error.message(), "this build has no CUDA device");
    }
    EXPECT_THROW(make_backend("gpu"), Error);
}

TEST(Backend, ATrainingRunsOnTheDeviceItNames) {
    ThreadPool pool(1);
    const Problem problem = testing::small_problem(pool);
    TrainOptions options;
    options.device = "cuda";
    EXPECT_THROW(train(problem, NetworkSpec{}, options), Error);
}

}  // namespace
}  // namespace pibinn
