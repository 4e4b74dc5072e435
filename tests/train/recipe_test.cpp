#include "pibinn/recipe.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "train/optimiser.hpp"

namespace pibinn {
namespace {

std::string refusal(const Recipe& recipe, const NetworkSpec& spec) {
    try {
        recipe.validate(spec);
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_FALSE(e.hint().empty());
        return e.message();
    }
    return "accepted";
}

TEST(Recipe, NamedOnesFitEveryKindAndDepth) {
    for (const WeightKind kind : weight_kinds())
        for (std::size_t layers : {1u, 5u, 20u, 30u})
            for (const char* name : {"paper", "default"}) {
                NetworkSpec spec;
                spec.weights = kind;
                spec.layers = layers;
                EXPECT_EQ(refusal(named_recipe(name, spec), spec), "accepted") << name;
            }
}

TEST(Recipe, PaperHasThePublishedRates) {
    NetworkSpec spec;
    spec.update = Update::plain();
    const Recipe recipe = named_recipe("paper", spec);
    ASSERT_EQ(recipe.stages.size(), 3u);
    EXPECT_EQ(recipe.stages[0].schedule, Schedule::constant);
    EXPECT_EQ(recipe.stages[1].schedule, Schedule::step);
    EXPECT_EQ(recipe.stages[2].schedule, Schedule::constant);
    for (const Stage& stage : recipe.stages) EXPECT_DOUBLE_EQ(stage.learning_rate, 1e-3);
    EXPECT_DOUBLE_EQ(recipe.stages[1].scale, 0.02);
    EXPECT_FALSE(recipe.stages[2].trains_weights);
    EXPECT_TRUE(recipe.stages[2].trains_scale);
}

TEST(Recipe, RefusesWhatMakesNoSense) {
    NetworkSpec spec;
    const Recipe good = named_recipe("default", spec);
    const auto with = [&](auto&& change) {
        Recipe recipe = good;
        change(recipe);
        return refusal(recipe, spec);
    };
    EXPECT_EQ(with([](Recipe& r) { r.stages.clear(); }), "the recipe has no stages");
    EXPECT_EQ(with([](Recipe& r) { r.ramp = 1.5; }), "Recipe::ramp 1.5 is not in [0, 1]");
    EXPECT_EQ(with([](Recipe& r) { r.stages[0].epochs = 0; }), "stage 'pretrain': 0 epochs");
    EXPECT_EQ(with([](Recipe& r) { r.stages[1].learning_rate = -1; }),
              "stage 'joint': learning rate -1 is not positive");
    EXPECT_EQ(with([](Recipe& r) { r.batch = 0; }), "accepted");  // train() fits it
    EXPECT_EQ(with([](Recipe& r) { std::swap(r.stages[0], r.stages[1]); }),
              "stage 'pretrain' trains float weights after a stage that quantised them");
    EXPECT_EQ(with([](Recipe& r) { r.stages.resize(1); }),
              "the last stage 'pretrain' does not train 'one-bit' weights as they are stored");
    EXPECT_EQ(with([](Recipe& r) { r.stages[2].trains_theta = r.stages[2].trains_scale = false; }),
              "stage 'stage2': trains nothing");
    EXPECT_EQ(with([](Recipe& r) { r.stages[0].scalar_clip = -1; }),
              "stage 'pretrain': scalar_clip -1 is negative");
    NetworkSpec tied;
    tied.weights = WeightKind::tied;
    Recipe trains_weights = named_recipe("default", tied);
    trains_weights.stages[0].trains_weights = true;
    EXPECT_EQ(refusal(trains_weights, tied),
              "stage 'tune': tied weights are the operator, and nothing to train");
    spec.weights = WeightKind::ternary;
    EXPECT_EQ(refusal(good, spec),
              "stage 'joint': weights 'ternary' have no global scale to train");
    EXPECT_THROW(named_recipe("defalt", spec), Error);
    NetworkSpec full;
    full.architecture = Architecture::fcn;
    full.update = Update::plain();
    Recipe ramp = named_recipe("default", full);
    EXPECT_EQ(refusal(ramp, full), "accepted");
    ramp.start = Start::amp;
    EXPECT_EQ(refusal(ramp, full), "a fully connected network is no unrolled AMP");
    ramp.start = Start::ista;
    ramp.ramp = 0.25;
    EXPECT_EQ(refusal(ramp, full), "accepted") << "soft thresholds need none";
    full.activation = Activation::hard;
    EXPECT_EQ(refusal(ramp, full),
              "a fully connected network has no ramp for its thresholds to learn by");
}

NetworkSpec shrink_network(WeightKind weights, std::size_t layers) {
    NetworkSpec spec;
    spec.weights = weights;
    spec.layers = layers;
    spec.activation = Activation::piecewise;
    return spec;
}

TEST(Recipe, ARangeOfNoiseIsJudgedByNorms) {
    const NetworkSpec tied = shrink_network(WeightKind::tied, 16);
    ProblemTraits traits;
    traits.drawn = traits.disturbed = true;
    EXPECT_EQ(recipe_for(traits, tied).loss, LossKind::log);
    traits.noise_varies = true;
    EXPECT_EQ(recipe_for(traits, tied).loss, LossKind::log_norm);
    EXPECT_EQ(recipe_for(traits, NetworkSpec{}).loss, LossKind::squared);
    EXPECT_EQ(recipe_for(traits, tied, "paper").loss, LossKind::squared);
}

TEST(Recipe, TiedNetworksTakeLargerAndFewerStepsWithNoise) {
    const NetworkSpec tied = shrink_network(WeightKind::tied, 16);
    ProblemTraits traits;
    const Stage quiet = recipe_for(traits, tied).stages[0];
    traits.disturbed = true;
    const Stage noisy = recipe_for(traits, tied).stages[0];
    EXPECT_LT(noisy.epochs, quiet.epochs);
    EXPECT_GT(noisy.learning_rate, quiet.learning_rate);
}

TEST(Recipe, DeepBitsWithALearnedShrinkStartAtAmpsScale) {
    const Recipe recipe = named_recipe("default", shrink_network(WeightKind::one_bit, 16));
    ASSERT_EQ(recipe.stages.size(), 3u);
    // A column of 50 entries N(0, 1/50): its signs times this have an inner product of 1 with it.
    EXPECT_NEAR(recipe.stages[1].scale * std::sqrt(2 * 50 / std::numbers::pi), 1, 1e-12);
    EXPECT_TRUE(recipe.stages[1].fit_scale);
    EXPECT_EQ(named_recipe("default", shrink_network(WeightKind::ternary, 16)).stages[1].scale, 0);
}

TEST(Schedule, FollowsItsFormula) {
    Stage stage;
    stage.learning_rate = 2e-3;
    stage.epochs = 100;
    EXPECT_DOUBLE_EQ(rate_at(stage, 57), 2e-3);
    stage.schedule = Schedule::step;
    EXPECT_DOUBLE_EQ(rate_at(stage, 9), 2e-3);
    EXPECT_DOUBLE_EQ(rate_at(stage, 10), 2e-3 * 0.9);
    EXPECT_DOUBLE_EQ(rate_at(stage, 39), 2e-3 * std::pow(0.9, 3));
    stage.schedule = Schedule::cosine;
    EXPECT_DOUBLE_EQ(rate_at(stage, 0), 2e-3);
    EXPECT_NEAR(rate_at(stage, 50), 2e-3 * 0.505, 1e-12);
    EXPECT_LT(rate_at(stage, 99), 2e-3 * 0.011);
}

}  // namespace
}  // namespace pibinn
