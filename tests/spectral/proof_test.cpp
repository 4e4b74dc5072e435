#include <set>

#include <gtest/gtest.h>

#include "pibinn/random.hpp"
#include "spectral/coherence.hpp"
#include "spectral/error_proof.hpp"
#include "spectral/low_coherence.hpp"
#include "spectral/rounding.hpp"
#include "spectral/sign_search.hpp"

namespace pibinn {

namespace {

Eigen::MatrixXd random_operator(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
    Stream stream(seed, Purpose::tests);
    Eigen::MatrixXd a(rows, cols);
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = stream.normal();
    return a / std::sqrt(static_cast<double>(rows));
}

BlockNetwork random_network(std::uint64_t seed) {
    BlockNetwork network;
    network.spec.layers = 4;
    network.spec.update = Update::plain();
    network.A = random_operator(60, 12, seed);
    for (std::uint64_t k = 0; k < 4; ++k)
        network.W.push_back(network.A + 0.2 * random_operator(60, 12, 100 + k));
    network.theta.assign(4, 0.05);
    network.beta.assign(4, 0);
    network.omega.assign(4, 0);
    return network;
}

}  // namespace

TEST(Shrink, DeviatesMostAtAThresholdOrAtTheEnd) {
    const Shrink soft{0.5, {}, {}};
    EXPECT_EQ(dead_zone(soft), 0.5);
    EXPECT_EQ(deviation(soft, 10), 0.5);
    EXPECT_EQ(deviation(soft, 0.2), 0.2);
    // Zero up to 1, then twice as steep until it is the identity from 2 on.
    const Shrink firm{0, {1, 2}, {2, -1}};
    EXPECT_EQ(dead_zone(firm), 1);
    EXPECT_EQ(deviation(firm, 10), 1);
    // Half of what passes is lost: at 10 it is off by 1 + 9 / 2.
    EXPECT_EQ(deviation({0, {1}, {0.5}}, 10), 5.5);
    // A piece without gain keeps nothing from passing.
    EXPECT_EQ(dead_zone({0, {1, 0.1}, {1, 0}}), 1);
    EXPECT_TRUE(keeps_at_zero(Activation::soft, 1, 1));
    EXPECT_FALSE(keeps_at_zero(Activation::hard, 1, 1));
}

TEST(ErrorNorms, BoundEachOther) {
    ErrorNorms norms{10, 3, 2};
    norms.tighten(4);
    EXPECT_DOUBLE_EQ(norms.two, std::sqrt(6.0));
    EXPECT_EQ(norms.one, 3);
    EXPECT_EQ(norms.most, 2);
}

TEST(SupportRecursion, IsNeverWorseThanNorms) {
    ThreadPool pool(1);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const std::vector<BlockNetwork> networks{random_network(seed)};
        const Support support{0, {1, 4, 9}};
        for (const double noise : {0.0, 0.1})
            for (const double rounding : {0.0, kFloat32}) {
                const SpectralTerms terms = spectral_terms(networks, {support}, pool);
                BoundInputs in;
                in.update = Update::plain();
                in.s = 3;
                in.least_rows = in.most_rows = 60;
                in.B = 2;
                in.noise = noise;
                in.rounding = rounding;
                in.operator_norm = terms.operator_norm;
                in.layers = terms.layers;
                // In length alone: nothing is known of the other norms.
                for (LayerTerms& layer : in.layers)
                    layer.f_row = layer.f_column = layer.leak_row = layer.leak_entry = kUnmeasured;
                const ErrorBound norms = error_bound(in);
                ErrorProof proof(networks, nullptr, {support}, 2, noise, rounding, pool);
                const ErrorBound followed = bound_of(proof, networks.front());
                for (std::size_t k = 0; k < 4; ++k) {
                    EXPECT_LE(followed.error[k], norms.error[k] * (1 + 1e-12));
                    EXPECT_LE(followed.theta_needed[k], norms.theta_needed[k] * (1 + 1e-12));
                }
            }
    }
}

TEST(EnumeratedSupports, AreAllOfThem) {
    const std::vector<BlockNetwork> networks{random_network(1), random_network(2)};
    const auto pairs = enumerated_supports(networks, 2);
    EXPECT_EQ(pairs.size(), 2U * 66);
    EXPECT_EQ(std::set<Support>(pairs.begin(), pairs.end()).size(), pairs.size());
    EXPECT_EQ(enumerated_supports(networks, 12).size(), 2U);
}

TEST(LowCoherence, HasAUnitDiagonalAndDisturbsLess) {
    const Eigen::MatrixXd a = random_operator(20, 40, 3).colwise().normalized();
    const Eigen::MatrixXd gram = low_coherence_weights(a).transpose() * a;
    EXPECT_NEAR((gram.diagonal().array() - 1).abs().maxCoeff(), 0, 1e-9);
    const Eigen::MatrixXd own = a.transpose() * a;
    EXPECT_LT(coherence(gram).mu, 0.65 * coherence(own).mu);
    const Eigen::MatrixXd dual = dual_weights(a, {3, 7, 30}).transpose() * a;
    for (Eigen::Index i = 0; i < 40; ++i)
        for (const Eigen::Index j : {3, 7, 30}) EXPECT_NEAR(dual(i, j), i == j ? 1 : 0, 1e-9);
}

TEST(SignSearch, ComesNearWhatIsAskedFor) {
    const Eigen::MatrixXd a = random_operator(50, 4, 5);
    Eigen::VectorXd target = Eigen::VectorXd::Zero(4);
    target[1] = 0.8 * a.col(1).lpNorm<1>();
    Stream stream(1, Purpose::tests);
    const Eigen::VectorXd w = search_signs(a, target, 30, stream);
    EXPECT_EQ(w.cwiseAbs().minCoeff(), 1);
    EXPECT_LT((a.transpose() * w - target).norm(), 0.03 * target.norm());
    const Eigen::MatrixXd many = random_operator(50, 100, 6);
    const Eigen::VectorXd own = many.col(7).unaryExpr([](double v) { return v < 0 ? -1. : 1.; });
    Eigen::VectorXd level = Eigen::VectorXd::Zero(100);
    level[7] = many.col(7).lpNorm<1>();
    const Eigen::VectorXd flat = flatten_signs(many, level, own);
    EXPECT_LT((many.transpose() * flat - level).lpNorm<Eigen::Infinity>(),
              (many.transpose() * own - level).lpNorm<Eigen::Infinity>());
}

TEST(Rounding, IsNoneForExactNumbersAndGrowsWithTheSignal) {
    RoundedLayer layer{0, 50, 5, 1, 1, 1, 0.1, 1, 0};
    EXPECT_EQ(rounding_of(layer), 0);
    layer.unit = kFloat32;
    const double small = rounding_of(layer);
    layer.B *= 10;
    layer.v *= 10;
    EXPECT_NEAR(rounding_of(layer), 10 * small, 1e-12);
}

}  // namespace pibinn
