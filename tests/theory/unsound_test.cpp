// Networks that a certificate once called guaranteed although a signal broke its bound.
#include <gtest/gtest.h>

#include "core/numbers.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/error.hpp"
#include "spectral/rounding.hpp"
#include "spectral/shrink.hpp"
#include "spectral/spectral_norm.hpp"

namespace pibinn {
namespace {

/// Diagonal operators of two blocks of 2 x 2, or one of n x n; weights of each layer are multiples
/// of the identity, block by block.
Model diagonal_model(const Structure& structure, const std::vector<std::vector<float>>& layers) {
    Model model;
    model.spec.layers = layers.size();
    model.spec.activation = Activation::soft;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    const std::size_t side = structure.parts().front().rows;
    std::vector<float> values;
    for (std::size_t b = 0; b < structure.parts().size(); ++b)
        for (std::size_t i = 0; i < side * side; ++i) values.push_back(i % (side + 1) == 0 ? 1 : 0);
    model.op = Operator(structure, AlignedBuffer<float>(values.begin(), values.end()));
    for (const auto& scales : layers) {
        AlignedBuffer<float> w(values.begin(), values.end());
        for (std::size_t i = 0; i < w.size(); ++i) w[i] *= scales[i / (side * side)];
        model.weights.push_back(std::move(w));
        model.theta.push_back(0.15F);
    }
    return model;
}

TEST(Unsound, NoiseInABlockWithoutSupportEntriesIsFollowed) {
    const Model model = diagonal_model(
        Structure::blocks(std::vector<std::pair<std::size_t, std::size_t>>{{2, 2}, {2, 2}}),
        {{1, 50}});
    CertificateInput input;
    input.support = {0};
    CertificateOptions options;
    options.B = 1;
    options.noise = 0.1;
    // y = (1, 0, 0.1, 0) is answered by 4.85 at entry 2, where the signal is zero.
    EXPECT_NE(certify(model, input, options).verdict, Verdict::guaranteed);
    options.noise = 0;
    EXPECT_EQ(certify(model, input, options).verdict, Verdict::guaranteed);
}

TEST(Unsound, WhatOverflowsHasNoSmallNorm) {
    const Eigen::MatrixXd huge = Eigen::MatrixXd::Identity(2, 2) * 1e200;
    EXPECT_TRUE(std::isinf(spectral_norm(huge)));
    Model model = diagonal_model(Structure::dense(2, 2),
                                 {{1}, {-3e37F}, {-3e37F}, {-3e37F}, {-3e37F}, {-3e37F}, {-3e37F}});
    model.theta.assign(7, 0.0F);
    model.theta[0] = 1e-3F;
    CertificateInput input;
    input.support = {0, 1};
    EXPECT_NE(certify(model, input, CertificateOptions{}).verdict, Verdict::guaranteed);
}

TEST(Unsound, WhatIsPromisedForAllUpToALengthIsNotSaidOfMore) {
    EXPECT_EQ(rounded_down(5.645751), "5.645");
    EXPECT_EQ(rounded_down(1.23456), "1.234");
    EXPECT_EQ(rounded_down(1), "1");
    EXPECT_EQ(rounded_down(0.00099999), "0.0009999");
    EXPECT_EQ(rounded_up(0.0950), "0.0951");
    EXPECT_EQ(rounded_up(0.09501), "0.0951");
    EXPECT_NE(rounded_up(0), "0");
    const Model model = diagonal_model(Structure::dense(3, 3), {{1}});
    CertificateInput input;
    input.support = {0};
    CertificateOptions options;
    options.B = 5.645751;
    const std::string text = certify(model, input, options).statement();
    EXPECT_NE(text.find("norm up to 5.645,"), std::string::npos) << text;
}

TEST(Unsound, ALearnedShrinkWithAnOnsagerTermIsRefused) {
    Model model = diagonal_model(Structure::dense(2, 2), {{1}});
    model.spec.activation = Activation::piecewise;
    model.spec.pieces = 2;
    model.theta = {0.1F, 0.2F};
    model.gain = {1000.0F, -999.0F};
    model.spec.update.onsager = true;
    model.omega = {0.01F};
    CertificateInput input;
    input.support = {0};
    EXPECT_THROW(certify(model, input, CertificateOptions{}), Error);
}

TEST(Unsound, ThresholdsThatMoveMoveALearnedShrinkByItsGains) {
    EXPECT_EQ(steepness({0.3, {}, {}}), 1);
    EXPECT_EQ(steepness({0, {0.1, 0.3, 0.3}, {1, 5, -5}}), 11);
}

TEST(Unsound, Float32HasARangeAndRoundsBothTermsOfMomentum) {
    const RoundedLayer layer{kFloat32, 2, 1, 1, 1, 1, 0.1, 1, 0};
    EXPECT_LT(rounding_of(layer), 1e-5);
    RoundedLayer tiny = layer;
    tiny.operator_norm = tiny.absolute_norm = 1e-30;
    tiny.column = 1e30;
    tiny.B = 1e-14;
    EXPECT_TRUE(std::isinf(rounding_of(tiny)));
    RoundedLayer huge = layer;
    huge.column = 1e38;
    EXPECT_TRUE(std::isinf(rounding_of(huge)));
    EXPECT_EQ(extra_of_momentum(0), 0);
    EXPECT_EQ(extra_of_momentum(1000), 2000);
    EXPECT_NEAR(extra_of_momentum(-0.5), 0, 1e-15);
}

TEST(Unsound, ANegativeThresholdKeepsNothing) { EXPECT_EQ(deviation({-0.2, {}, {}}, 0.1), 0.2); }

}  // namespace
}  // namespace pibinn
