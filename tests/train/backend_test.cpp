#include "algebra/backend.hpp"

#include <gtest/gtest.h>

#include "core/cuda_module.hpp"
#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
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

TEST(Backend, AMachineWithoutCudaDeviceRefusesItByName) {
    EXPECT_NE(make_backend("cpu"), nullptr);
    EXPECT_THROW(make_backend("gpu"), Error);
    if (!cuda_device_name().empty()) GTEST_SKIP() << "skipped: there is a CUDA device";
    try {
        make_backend("cuda");
        FAIL() << "a CUDA device where there is none";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(error.message().find("no CUDA device"), std::string::npos) << error.message();
    }
    ThreadPool pool(1);
    TrainOptions options;
    options.device = "cuda";
    EXPECT_THROW(train(testing::small_problem(pool), NetworkSpec{}, options), Error);
}

/// Losses of a short training of every stage.
std::vector<double> losses_on(std::string_view device, const Problem& problem,
                              const NetworkSpec& spec, const Recipe& recipe) {
    ThreadPool pool(1);
    const auto backend = make_backend(device);
    Trainer trainer(problem, spec, recipe, 3, *backend, pool);
    while (!trainer.done()) trainer.run_epoch();
    std::vector<double> losses;
    for (const EpochRecord& epoch : trainer.history()) losses.push_back(epoch.loss);
    return losses;
}

TEST(Backend, ACudaDeviceTrainsAsTheProcessorDoes) {
    if (cuda_device_name().empty()) GTEST_SKIP() << "skipped: no CUDA device";
    ThreadPool pool(1);
    const Problem problem = testing::small_problem(pool);
    for (const WeightKind kind : weight_kinds())
        for (const Activation activation :
             {Activation::soft, Activation::hard, Activation::piecewise}) {
            NetworkSpec spec;
            spec.layers = 3;
            spec.weights = kind;
            spec.activation = activation;
            const Recipe recipe = short_recipe(spec);
            const auto here = losses_on("cpu", problem, spec, recipe);
            const auto there = losses_on("cuda", problem, spec, recipe);
            ASSERT_EQ(here.size(), there.size());
            // Signs that stand at zero may fall either way, and the losses part from there on.
            for (std::size_t e = 0; e < 2; ++e)
                EXPECT_NEAR(there[e] / here[e], 1, 1e-3)
                    << to_string(kind) << ' ' << to_string(activation) << ", epoch " << e;
            EXPECT_NEAR(there.back() / here.back(), 1, 0.1)
                << to_string(kind) << ' ' << to_string(activation);
            EXPECT_EQ(there, losses_on("cuda", problem, spec, recipe)) << "one seed, one result";
        }
}

/// From 2^20 entries on, factors of products are float16 there, scaled by powers of two.
TEST(Backend, ALargeDenseNetworkTrainsInHalvesAsTheProcessorDoes) {
    if (cuda_device_name().empty()) GTEST_SKIP() << "skipped: no CUDA device";
    ThreadPool pool(0);
    SyntheticSpec synthetic;
    synthetic.m = 1021;
    synthetic.n = 1031;
    synthetic.train = 40;
    synthetic.test = 5;
    // Of signals and measurements as of their units: halves have no range of their own.
    for (const double unit : {1.0, 1e-7, 1e7}) {
        Problem problem = make_synthetic(synthetic, 5, pool);
        for (DataSet* set : {&problem.train, &problem.test})
            for (Batch* rows : {&set->x, &set->y})
                for (float& value : rows->values()) value *= static_cast<float>(unit);
        for (const WeightKind kind : {WeightKind::real, WeightKind::one_bit, WeightKind::tied})
            for (const Update& update : {Update::plain(), Update::accelerated()}) {
                NetworkSpec spec;
                spec.layers = 3;
                spec.weights = kind;
                spec.update = update;
                if (spec.tied() && !update.step) continue;
                Recipe recipe = short_recipe(spec);
                recipe.batch = 20;
                recipe.validation = 0;
                for (Stage& stage : recipe.stages) stage.learning_rate *= 1e-2;
                const auto here = losses_on("cpu", problem, spec, recipe);
                const auto there = losses_on("cuda-tf32", problem, spec, recipe);
                ASSERT_EQ(here.size(), there.size());
                for (std::size_t e = 0; e < 2; ++e)
                    EXPECT_NEAR(there[e] / here[e], 1, 5e-3)
                        << to_string(kind) << ", unit " << unit << ", epoch " << e;
                EXPECT_EQ(there, losses_on("cuda-tf32", problem, spec, recipe));
            }
    }
}

TEST(Backend, ACheckpointMovesBetweenDevices) {
    if (cuda_device_name().empty()) GTEST_SKIP() << "skipped: no CUDA device";
    ThreadPool pool(1);
    const Problem problem = testing::small_problem(pool);
    NetworkSpec spec;
    spec.layers = 3;
    const auto here = make_backend("cpu"), there = make_backend("cuda");
    Trainer first(problem, spec, short_recipe(spec), 3, *there, pool);
    for (int epoch = 0; epoch < 3; ++epoch) first.run_epoch();
    Trainer second(problem, spec, short_recipe(spec), 3, *here, pool);
    second.restore(first.snapshot());
    EXPECT_EQ(second.snapshot().latent, first.snapshot().latent);
    EXPECT_EQ(second.snapshot().second, first.snapshot().second);
    second.run_epoch();
    first.run_epoch();
    EXPECT_NEAR(second.history().back().loss / first.history().back().loss, 1, 1e-3);
}

}  // namespace
}  // namespace pibinn
