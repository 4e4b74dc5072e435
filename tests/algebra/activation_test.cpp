#include <limits>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "algebra/activate.hpp"
#include "algebra/cpu/row_kernels.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {
namespace {

TEST(Activations, EveryActivationIsRegisteredUnderItsName) {
    std::set<std::string> names;
    for (const Activation activation : activations()) {
        names.emplace(to_string(activation));
        EXPECT_EQ(parse_activation(to_string(activation)), activation);
    }
    EXPECT_EQ(names, (std::set<std::string>{"soft", "hard", "relu", "piecewise", "wiener"}));
}

TEST(Activations, RulesSayHowThresholdsLearnAndWhatTheTheoryKnows) {
    const ActivationRules& soft = rules_of(Activation::soft);
    EXPECT_TRUE(soft.has_threshold());
    EXPECT_EQ(soft.learning, ThresholdLearning::always);
    EXPECT_EQ(soft.bound, ContractionBound::soft);
    const ActivationRules& hard = rules_of(Activation::hard);
    EXPECT_TRUE(hard.has_threshold());
    EXPECT_EQ(hard.learning, ThresholdLearning::by_ramp);
    EXPECT_EQ(hard.bound, ContractionBound::hard);
    const ActivationRules& relu = rules_of(Activation::relu);
    EXPECT_FALSE(relu.has_threshold());
    EXPECT_EQ(relu.learning, ThresholdLearning::none);
    EXPECT_EQ(relu.bound, ContractionBound::none);
    const ActivationRules& piecewise = rules_of(Activation::piecewise);
    EXPECT_EQ(piecewise.thresholds, ActivationRules::Thresholds::pieces);
    EXPECT_EQ(piecewise.learning, ThresholdLearning::always);
    EXPECT_EQ(piecewise.bound, ContractionBound::none);
}

TEST(Activations, ALearnedShrinkAddsUpItsPieces) {
    const double thresholds[] = {1.0, 3.0}, gains[] = {0.5, 0.25};
    const ActivationNumbers<double> numbers{0, 0, 2, thresholds, gains};
    const auto shrink = [&](double z) { return activate(Activation::piecewise, z, numbers); };
    EXPECT_EQ(shrink(0.5), 0.0);
    EXPECT_EQ(shrink(2.0), 0.5);
    EXPECT_EQ(shrink(-2.0), -0.5);
    EXPECT_EQ(shrink(5.0), 2.5);
    EXPECT_EQ(onsager_slope(Activation::piecewise, -5.0, -2.5, numbers), 0.75);
    EXPECT_EQ(onsager_slope(Activation::piecewise, 2.0, 0.5, numbers), 0.5);
    EXPECT_EQ(onsager_slope(Activation::soft, 2.0, 0.5, numbers), 1.0);
}

TEST(Activations, FormulasAreThoseOfTheirDefinition) {
    EXPECT_EQ(activate(Activation::soft, 1.5, 1.0), 0.5);
    EXPECT_EQ(activate(Activation::soft, -1.5, 1.0), -0.5);
    EXPECT_EQ(activate(Activation::soft, 1.0, 1.0), 0.0);
    EXPECT_EQ(activate(Activation::hard, 1.0, 1.0), 1.0);
    EXPECT_EQ(activate(Activation::hard, -1.5, 1.0), -1.5);
    EXPECT_EQ(activate(Activation::hard, 0.5, 1.0), 0.0);
    EXPECT_EQ(activate(Activation::hard, 2.0, std::numeric_limits<double>::infinity()), 0.0);
    EXPECT_EQ(activate(Activation::relu, 0.5, 9.0), 0.5);
    EXPECT_EQ(activate(Activation::relu, -0.5, 9.0), 0.0);
}

TEST(Activations, VectorsAndNumbersFollowOneFormula) {
    constexpr std::size_t stride = 2 * cpu::kPad;
    AlignedBuffer<float> q(stride), x(stride);
    for (std::size_t j = 0; j < stride; ++j) q[j] = 0.25F * (static_cast<float>(j) - 15.5F);
    std::vector<std::uint32_t> indices(stride + cpu::kPad), starts(2);
    std::vector<std::uint8_t> signs(cpu::sign_bytes(stride) + 8);
    const float tau = 1.125F;  // some |z| are equal to it
    const float thresholds[] = {1.0F, 0.5F, 3.0F}, gains[] = {0.7F, 0.0F, -0.4F};
    const float scaled[] = {1.125F, 0.5625F, 3.375F};
    float slopes = 0;
    for (const Activation activation : activations())
        for (const float softening : {0.0F, 0.5F}) {
            cpu::threshold_rows({.rows = 1,
                                 .n = stride,
                                 .stride = stride,
                                 .activation = activation,
                                 .delta = 1,
                                 .beta = 0,
                                 .x1 = nullptr,
                                 .x2 = nullptr,
                                 .q = q.data(),
                                 .step = 1,
                                 .tau = &tau,
                                 .pieces = {3, thresholds, gains},
                                 .x = x.data(),
                                 .slopes = &slopes,
                                 .indices = indices.data(),
                                 .starts = starts.data(),
                                 .signs = signs.data(),
                                 .softening = softening,
                                 .z = nullptr});
            const ActivationNumbers<float> numbers{tau, softening, 3, scaled, gains};
            std::size_t alive = 0;
            float slope = 0;
            for (std::size_t j = 0; j < stride; ++j) {
                const float expected = activate(activation, -q[j], numbers);
                EXPECT_FLOAT_EQ(x[j], expected) << to_string(activation) << " of " << -q[j];
                // A gradient passes through the zeros of a gain of 0.
                alive += activation == Activation::piecewise ? std::abs(q[j]) > scaled[1]
                                                             : expected != 0;
                slope += onsager_slope(activation, -q[j], expected, numbers);
            }
            EXPECT_EQ(starts[1], alive);
            EXPECT_FLOAT_EQ(slopes, slope) << to_string(activation);
        }
}

}  // namespace
}  // namespace pibinn
