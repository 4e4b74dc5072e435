#include "spectral/alpha.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "spectral/coherence.hpp"

namespace pibinn {

TEST(Coherence, IsTheLargestEntryBesideTheDiagonalWithPlaceAndSign) {
    Eigen::Matrix3d gram;
    gram << 9, 0.25, 0, 0.5, 9, -0.75, 0, 0, 9;
    const Coherence c = coherence(gram);
    EXPECT_EQ(c.mu, 0.75);
    EXPECT_EQ(c.i, 1);
    EXPECT_EQ(c.j, 2);
    EXPECT_EQ(c.sign, -1);
    const Coherence turned = coherence(Eigen::Matrix3f(-gram.transpose().cast<float>()));
    EXPECT_EQ(turned.mu, 0.75);
    EXPECT_EQ(turned.i, 2);
    EXPECT_EQ(turned.j, 1);
    EXPECT_EQ(turned.sign, 1);
    EXPECT_EQ(coherence(Eigen::Matrix3d(9 * Eigen::Matrix3d::Identity())).mu, 0);
}

// Among equals the first by columns: training follows it, so that results do not depend on luck.
TEST(Coherence, OfEqualEntriesIsTheFirstByColumns) {
    Eigen::Matrix3d gram = Eigen::Matrix3d::Identity();
    gram(0, 2) = gram(2, 1) = 0.5;
    EXPECT_EQ(coherence(gram).i, 2);
    EXPECT_EQ(coherence(gram).j, 1);
}

TEST(Alpha, OfAnActivationIsThatOfItsSet) {
    EXPECT_EQ(weight_set(Activation::hard), WeightSet::hard);
    EXPECT_EQ(weight_set(Activation::soft), WeightSet::soft);
    EXPECT_EQ(alpha(WeightSet::hard, 0.5, 0.125, 3), 0.5);
    EXPECT_EQ(alpha(WeightSet::soft, 0.5, 0.125, 3), 0.875);
    EXPECT_EQ(coherence_term(WeightSet::hard, 0.125, 3), 0);
    EXPECT_EQ(coherence_term(WeightSet::soft, 0.125, 3), 0.375);
}

TEST(Alpha, IsRefusedForAnActivationWithoutASet) {
    EXPECT_TRUE(is_certifiable(Activation::soft));
    EXPECT_TRUE(is_certifiable(Activation::hard));
    EXPECT_FALSE(is_certifiable(Activation::relu));
    for (const Activation activation : activations())
        // A learned shrink has no set of its own, and is told by that of `soft`.
        if (!is_certifiable(activation) && activation != Activation::piecewise) {
            EXPECT_THROW(weight_set(activation), Error) << to_string(activation);
        }
}

// G = diag(2, 4): ||delta I - c G|| = max(|delta - 2c|, |delta - 4c|).
TEST(Alpha, OfALayerIsTheLargestNormOfItsSupports) {
    AlphaTerms layer;
    EXPECT_EQ(alpha(layer, 1), 0);
    layer.grams.push_back(Eigen::Vector2d(2, 4).asDiagonal());
    EXPECT_NEAR(alpha(layer, 1), 3, 1e-14);
    EXPECT_NEAR(alpha(layer, 1, 0.125), 0.75, 1e-14);
    layer.grams.push_back(Eigen::MatrixXd::Constant(1, 1, -8.0));
    EXPECT_NEAR(alpha(layer, 1, 0.125), 2, 1e-14);
    layer.extra = 0.5;
    EXPECT_NEAR(alpha(layer, 1, 0.125), 2 + 0.0625, 1e-14);
    AlphaTerms small;
    small.grams.push_back(Eigen::MatrixXd::Constant(1, 1, 1.0));
    EXPECT_EQ(alpha(std::vector{small, layer, small}, 1, 0.125), alpha(layer, 1, 0.125));
}

TEST(Cvg, IsThePapersFormula) {
    EXPECT_DOUBLE_EQ(cvg(0.5, 1, 3, 2), 0.75);
    EXPECT_DOUBLE_EQ(cvg(0.5, 0.75, 3, 1), 0.5 * 3 + 0.25 / 0.5 * 3);
    EXPECT_DOUBLE_EQ(cvg(0.5, 1.25, 3, 1), 0.5 * 3 + 0.25 / 0.5 * 3);
    EXPECT_EQ(cvg(0, 1, 3, 1), 0);
    EXPECT_TRUE(std::isinf(cvg(1, 1, 3, 5)));
    EXPECT_TRUE(std::isinf(cvg(std::nan(""), 1, 3, 5)));
}

}  // namespace pibinn
