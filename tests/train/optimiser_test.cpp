#include "train/optimiser.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

struct Fixture {
    Fixture() {
        spec.layers = 2;
        layout = std::make_shared<const ParameterLayout>(spec, Structure::dense(3, 7));
    }
    NetworkSpec spec;
    std::shared_ptr<const ParameterLayout> layout;
    std::unique_ptr<Backend> backend = make_cpu_backend();
    Optimiser optimiser() { return {layout, *backend}; }
    /// A step on numbers of the host.
    void step(Optimiser& optimiser, const Stage& stage, double rate, const ParameterStore& gradient,
              ParameterStore& latent) {
        DeviceParameters g(gradient, *backend);
        DeviceParameters p(latent, *backend);
        optimiser.step(stage, rate, g, p);
        latent = p.download();
    }
    void settle(const Optimiser& optimiser, const Stage& stage, ParameterStore& latent) {
        DeviceParameters p(latent, *backend);
        optimiser.settle(stage, p);
        latent = p.download();
    }
};

TEST(Optimiser, IsAdamWithBiasCorrection) {
    Fixture f;
    Optimiser optimiser = f.optimiser();
    ParameterStore p(f.layout);
    ParameterStore g(f.layout);
    Stage stage;
    double value = 0.5;
    double m = 0;
    double v = 0;
    p.weights(1)[4] = 0.5F;
    for (int t = 1; t <= 5; ++t) {
        const double gradient = 0.3 * t - 0.7;
        g.weights(1)[4] = static_cast<float>(gradient);
        f.step(optimiser, stage, 1e-2, g, p);
        m = 0.9 * m + 0.1 * gradient;
        v = 0.999 * v + 0.001 * gradient * gradient;
        value -=
            1e-2 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
        EXPECT_NEAR(p.weights(1)[4], value, 1e-6);
    }
    EXPECT_EQ(p.weights(1)[3], 0.0F);
}

TEST(Optimiser, WarmsUpOverItsSteps) {
    Fixture f;
    Stage stage;
    stage.warmup = 4;
    Optimiser optimiser = f.optimiser();
    ParameterStore p(f.layout), g(f.layout);
    p.step()[0] = 1;
    g.step()[0] = 1;
    float before = 1;
    // With one gradient all along, Adam moves by the rate.
    for (const double share : {0.25, 0.5, 0.75, 1.0, 1.0}) {
        f.step(optimiser, stage, 1e-2, g, p);
        EXPECT_NEAR(before - p.step()[0], 1e-2 * share, 1e-6);
        before = p.step()[0];
    }
}

TEST(Optimiser, ClipsTheScalarsTogether) {
    Fixture f;
    Stage stage;
    stage.scalar_clip = 0.5;
    ParameterStore p(f.layout), g(f.layout);
    g.theta()[0] = 3;
    g.omega()[1] = 4;
    Optimiser optimiser = f.optimiser();
    f.step(optimiser, stage, 1e-2, g, p);
    // Adam's first moment is a tenth of what was let through.
    const ParameterStore first = optimiser.first().download();
    EXPECT_NEAR(first.theta()[0], 0.1 * 0.3, 1e-6);
    EXPECT_NEAR(first.omega()[1], 0.1 * 0.4, 1e-6);
}

TEST(Optimiser, ClipsEachLayerToItsOwnNorm) {
    Fixture f;
    Stage stage;
    stage.clip = 0.5;
    Optimiser optimiser = f.optimiser();
    ParameterStore p(f.layout);
    ParameterStore g(f.layout);
    g.weights(1)[0] = 3;
    g.weights(1)[1] = 4;  // norm 5: shrunk by 10
    g.weights(2)[0] = 0.3F;
    f.step(optimiser, stage, 1e-3, g, p);
    EXPECT_NEAR(optimiser.first().download().weights(1)[0], 0.1 * 0.3, 1e-6);
    EXPECT_NEAR(optimiser.first().download().weights(1)[1], 0.1 * 0.4, 1e-6);
    EXPECT_NEAR(optimiser.first().download().weights(2)[0], 0.1 * 0.3, 1e-6);
}

TEST(Optimiser, TrainsOnlyWhatTheStageNames) {
    Fixture f;
    ParameterStore g(f.layout);
    for (float& v : g.values()) v = 1.0F;
    for (int which = 0; which < 3; ++which) {
        Stage stage;
        stage.trains_weights = which == 0;
        stage.trains_theta = which == 1;
        stage.trains_scale = which == 2;
        Optimiser optimiser = f.optimiser();
        ParameterStore p(f.layout);
        for (float& v : p.values()) v = 0.5F;
        f.step(optimiser, stage, 1e-2, g, p);
        EXPECT_EQ(p.weights(2)[5] != 0.5F, which == 0);
        EXPECT_EQ(p.theta()[1] != 0.5F, which == 1);
        EXPECT_EQ(p.beta()[1] != 0.5F, which == 1);
        EXPECT_EQ(p.omega()[0] != 0.5F, which == 1);
        EXPECT_EQ(p.scale()[0] != 0.5F, which == 2);
    }
}

TEST(Optimiser, KeepsThresholdsFromGoingNegativeAndTheScalePositive) {
    Fixture f;
    Optimiser optimiser = f.optimiser();
    ParameterStore p(f.layout);
    ParameterStore g(f.layout);
    Stage stage;
    stage.trains_weights = false;
    stage.trains_scale = true;
    p.scale()[0] = 0.01F;
    g.theta()[0] = 1;
    g.weights(1)[0] = 1;  // what the scale's follows from
    for (int i = 0; i < 50; ++i) f.step(optimiser, stage, 0.1, g, p);
    EXPECT_EQ(p.theta()[0], 0.0F);
    EXPECT_GT(p.scale()[0], 0.0F);
    EXPECT_LT(p.scale()[0], 0.001F);
}

TEST(OperatorFit, IsOneWhereTheRecipesWereFoundAndFollowsTheSizeOfTheWeights) {
    const auto drawn = [](const Structure& s, OperatorEnsemble e) {
        return operator_fit(Operator::random(s, e, 3));
    };
    const auto gaussian = OperatorEnsemble::gaussian;
    EXPECT_EQ(drawn(Structure::dense(50, 100), gaussian), 1);
    EXPECT_EQ(drawn(Structure::repeated(50, 100, 7), gaussian), 1);
    // Four times the measurements: entries of half the size, sums of twice.
    EXPECT_EQ(drawn(Structure::dense(200, 300), gaussian), 0.5);
    EXPECT_EQ(drawn(Structure::dense(3200, 40), gaussian), 0.125);
    // All magnitudes 1/sqrt(m): the sum is sqrt(m), which is sqrt(pi / 2) times that of a Gaussian.
    EXPECT_EQ(drawn(Structure::dense(128, 64), OperatorEnsemble::rademacher), 0.5);
    Operator large = Operator::random(Structure::dense(50, 100), gaussian, 3);
    AlignedBuffer<float> values(large.values().begin(), large.values().end());
    for (float& v : values) v *= 8;
    EXPECT_EQ(operator_fit(Operator(large.structure(), values)), 0.125);
}

TEST(Optimiser, SettlesOnTheRunningMeanOfAStageThatAverages) {
    Fixture f;
    Stage stage;
    stage.average = 0.75;
    Optimiser optimiser = f.optimiser();
    ParameterStore p(f.layout);
    ParameterStore g(f.layout);
    p.weights(2)[20] = 0.5F;
    p.theta()[0] = 0.3F;
    double mean = 0;
    for (int t = 1; t <= 4; ++t) {
        g.weights(2)[20] = t % 2 ? 1.0F : -3.0F;
        f.step(optimiser, stage, 1e-2, g, p);
        const double now = p.weights(2)[20];
        mean = t == 1 ? now : 0.75 * mean + 0.25 * now;
    }
    const float last = p.weights(2)[20];
    ASSERT_GT(std::abs(mean - last), 1e-4);
    f.settle(optimiser, Stage{}, p);
    EXPECT_EQ(p.weights(2)[20], last) << "a stage that does not average keeps its last weights";
    f.settle(optimiser, stage, p);
    EXPECT_NEAR(p.weights(2)[20], mean, 1e-7);
    EXPECT_EQ(p.theta()[0], 0.3F);
}

TEST(MoveTowardsLevels, NeverPassesTheLevel) {
    const auto backend = make_cpu_backend();
    std::vector<float> w{0.5F, 0.105F, 0.02F, -0.3F, -0.01F};
    const auto buffer = backend->allocate(w.size() + 1);
    const BufferView weights{buffer.get(), 0, w.size()};
    const BufferView level{buffer.get(), w.size(), 1};
    backend->upload(w, weights);
    backend->fill(0.1F, level);
    backend->move_towards_levels(level, 0.05F, weights);
    backend->download(weights, w);
    EXPECT_FLOAT_EQ(w[0], 0.45F);
    EXPECT_FLOAT_EQ(w[1], 0.1F);
    EXPECT_FLOAT_EQ(w[2], 0.07F);
    EXPECT_FLOAT_EQ(w[3], -0.25F);
    EXPECT_FLOAT_EQ(w[4], -0.06F);
}

}  // namespace
}  // namespace pibinn
