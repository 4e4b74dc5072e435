// Perturbations that a bound likes least: where all its terms are reached, a bound that lacks one
// of them fails.
#include <gtest/gtest.h>

#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

constexpr double kB = 2;

/// Columns of A and W_k as they stand, four layers, thresholds of 1/8.
Model by_hand(std::size_t m, std::vector<float> a, std::vector<float> w,
              Update update = Update::plain()) {
    Model model;
    model.spec.layers = 4;
    model.spec.activation = Activation::soft;
    model.spec.weights = WeightKind::real;
    model.spec.update = update;
    const std::size_t n = a.size() / m;
    model.op = Operator(Structure::dense(m, n), {a.begin(), a.end()});
    model.weights.assign(4, {w.begin(), w.end()});
    model.theta.assign(4, 0.125F);
    if (update.momentum) model.beta.assign(4, -0.5F);
    if (update.onsager) model.omega.assign(4, -0.25F);
    return model;
}

/// One signal of length B on entry 0.
Certificate certify_first(const Model& model, const CertificateOptions& options = {}) {
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = Batch(1, model.op.cols());
    input.signals(0, 0) = static_cast<float>(kB);
    return certify(model, input, options, pool);
}

/// What the layers do with that signal, measured by the network's own operator and off by `noise`.
std::vector<Rows> layers_of(const BlockNetwork& network, const Eigen::VectorXd& noise) {
    Rows y = (kB * network.A.col(0) + noise).transpose();
    return run_layers(network, y);
}

std::vector<Rows> layers_of(const BlockNetwork& network) {
    return layers_of(network, Eigen::VectorXd::Zero(network.A.rows()));
}

std::vector<double> errors_of(const std::vector<Rows>& layers) {
    std::vector<double> out;
    for (const Rows& x : layers) {
        Rows off = x;
        off(0, 0) -= kB;
        out.push_back(off.norm());
    }
    return out;
}

BlockNetwork network_of(const Model& model) { return block_networks(model).front(); }

void expect_equal(const std::vector<double>& measured, const std::vector<double>& bound) {
    ASSERT_EQ(measured.size(), bound.size());
    for (std::size_t k = 0; k < measured.size(); ++k)
        EXPECT_NEAR(measured[k], bound[k], 1e-12) << "layer " << k + 1;
}

}  // namespace

TEST(Adversarial, NoiseAlongTheWeightsReachesTheErrorBound) {
    const Model model = by_hand(2, {1, 0}, {0.5F, 0});
    CertificateOptions options;
    options.noise = 0.25;
    const Certificate c = certify_first(model, options);
    const auto errors = errors_of(layers_of(network_of(model), Eigen::Vector2d(-0.25, 0)));
    expect_equal(errors, c.bound.error);
    BoundInputs quiet = c.terms;
    quiet.noise = 0;
    EXPECT_NE(exceeds(errors, error_bound(quiet).error), std::nullopt);
}

// W_1 is orthogonal to A_S: nothing but the noise, or the radius, can activate entry 1.
TEST(Adversarial, NoiseAlongAnOuterColumnReachesTheThresholdNeeded) {
    Model model = by_hand(2, {1, 0, 0, 1}, {0.5F, 0, 0, 1});
    CertificateOptions options;
    options.noise = 0.25;
    const double needed = certify_first(model, options).bound.theta_needed[0];
    EXPECT_DOUBLE_EQ(needed, 0.25);
    BlockNetwork network = network_of(model);
    network.theta[0] = needed;
    EXPECT_EQ(layers_of(network, Eigen::Vector2d(0, 0.25))[0](0, 1), 0);
    network.theta[0] = 0.999 * needed;
    EXPECT_NE(layers_of(network, Eigen::Vector2d(0, 0.25))[0](0, 1), 0);
}

TEST(Adversarial, OperatorsAndWeightsWithinTheirRadiusReachTheThresholdNeeded) {
    const Model model = by_hand(2, {1, 0, 0, 1}, {0.5F, 0, 0, 1});
    for (const bool of_operator : {true, false}) {
        CertificateOptions options;
        (of_operator ? options.operator_radius : options.weight_radius) = 0.125;
        const double needed = certify_first(model, options).bound.theta_needed[0];
        EXPECT_DOUBLE_EQ(needed, 0.125 * kB);
        BlockNetwork network = network_of(model);
        if (of_operator)
            network.A(1, 0) += 0.125;
        else
            network.W[0](0, 1) += 0.125;
        network.theta[0] = needed;
        EXPECT_EQ(layers_of(network)[0](0, 1), 0);
        network.theta[0] = 0.999 * needed;
        EXPECT_NE(layers_of(network)[0](0, 1), 0);
    }
}

// W^T A = 1.25 and thresholds of zero: f = |1 - W^T A| grows by w rho + ||A|| eta + rho eta.
TEST(Adversarial, OperatorsAndWeightsWithinTheirRadiusReachTheErrorBound) {
    Model model = by_hand(1, {1}, {1.25F});
    model.theta.assign(4, 0);
    CertificateOptions options;
    options.operator_radius = 0.125;
    options.weight_radius = 0.25;
    const Certificate c = certify_first(model, options);
    BlockNetwork network = network_of(model);
    network.A(0, 0) += 0.125;
    for (auto& w : network.W) w(0, 0) += 0.25;
    const auto errors = errors_of(layers_of(network));
    expect_equal(errors, c.bound.error);
    for (double* radius : {&options.operator_radius, &options.weight_radius}) {
        const double kept = std::exchange(*radius, 0.0);
        EXPECT_NE(exceeds(errors, certify_first(model, options).bound.error), std::nullopt);
        *radius = kept;
    }
}

TEST(Adversarial, ThresholdsWithinTheirRadiusReachTheErrorBound) {
    const Model model = by_hand(1, {1}, {0.5F});
    CertificateOptions options;
    options.threshold_radius = 0.0625;
    BlockNetwork network = network_of(model);
    for (double& theta : network.theta) theta += 0.0625;
    const auto errors = errors_of(layers_of(network));
    expect_equal(errors, certify_first(model, options).bound.error);
    EXPECT_NE(exceeds(errors, certify_first(model).bound.error), std::nullopt);
}

// All entries of r are equal, so that mean|r| = ||r|| / sqrt(m).
TEST(Adversarial, AnEvenResidualReachesTheShrinkageOfAResidualThreshold) {
    const Model model =
        by_hand(4, {0.5F, 0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F, 0.25F}, {true, false, false});
    const Certificate c = certify_first(model);
    const auto errors = errors_of(layers_of(network_of(model)));
    expect_equal(errors, c.bound.error);
    BoundInputs wrong = c.terms;
    wrong.least_rows = 5;
    EXPECT_NE(exceeds(errors, error_bound(wrong).error), std::nullopt);
    wrong = c.terms;
    for (LayerTerms& layer : wrong.layers) layer.theta = 0;
    EXPECT_NE(exceeds(errors, error_bound(wrong).error), std::nullopt);
}

// omega < 0: the residual that the second layer carries over pushes as its error does.
TEST(Adversarial, ACarriedResidualReachesTheErrorBoundOfTheSecondLayer) {
    const Model model = by_hand(1, {1}, {0.5F}, {false, false, true});
    const Certificate c = certify_first(model);
    const auto errors = errors_of(layers_of(network_of(model)));
    EXPECT_EQ(exceeds(errors, c.bound.error), std::nullopt);
    EXPECT_NEAR(errors[1], c.bound.error[1], 1e-12);
    BoundInputs forgetful = c.terms;
    for (LayerTerms& layer : forgetful.layers) layer.omega = 0;
    EXPECT_NE(exceeds(errors, error_bound(forgetful).error), std::nullopt);
}

// beta < 0 and no threshold: the errors are those of the products of matrices themselves.
TEST(Adversarial, MomentumReachesTheErrorBound) {
    Model model = by_hand(1, {1}, {0.5F}, {false, true, false});
    model.theta.assign(4, 0);
    const Certificate c = certify_first(model);
    EXPECT_TRUE(c.followed);
    const auto errors = errors_of(layers_of(network_of(model)));
    expect_equal(errors, c.bound.error);
    expect_equal(errors, error_bound(c.terms).error);
    BoundInputs still = c.terms;
    for (LayerTerms& layer : still.layers) layer.beta = 0;
    EXPECT_NE(exceeds(errors, error_bound(still).error), std::nullopt);
}

// M q = f p: rank one along W_S p, or along A_S q, moves f by all that a radius allows but for the
// angle between the singular vectors of M and those of W_S and A_S.
TEST(Adversarial, RankOneChangesStayUnderTheInflatedTermsAndPassTheBareOnes) {
    ThreadPool pool(1);
    const double radius = 0.03;
    for (const Case& c : some_cases())
        for (const bool of_operator : {true, false}) {
            Model model = model_of_case(c);
            const CertificateInput input = input_of_case(c, model);
            CertificateOptions options;
            (of_operator ? options.operator_radius : options.weight_radius) = radius;
            keep_support(model, input, options, pool);
            const Certificate wide = certify(model, input, options, pool);
            const Certificate bare = certify(model, input, {}, pool);
            const auto networks = block_networks(model);
            const BlockData data = split_signals(model, networks, input);
            const Support& support = data.supports.front();
            BlockNetwork other = networks.front();
            const Eigen::JacobiSVD<Eigen::MatrixXd> svd(step_on_support(other, 0, support),
                                                        Eigen::ComputeThinU | Eigen::ComputeThinV);
            const Eigen::VectorXd p = svd.matrixU().col(0), q = svd.matrixV().col(0);
            const Eigen::VectorXd along = of_operator
                                              ? Eigen::VectorXd(columns(other.W[0], support) * p)
                                              : Eigen::VectorXd(columns(other.A, support) * q);
            for (std::size_t j = 0; j < support.entries.size(); ++j) {
                const auto at = static_cast<Eigen::Index>(j);
                (of_operator ? other.A : other.W[0]).col(support.entries[j]) -=
                    radius * along.normalized() * (of_operator ? q : p)[at];
            }
            const double f = spectral_norm(step_on_support(other, 0, support));
            EXPECT_LE(f, wide.terms.layers[0].f * (1 + 1e-12)) << c.seed;
            EXPECT_GT(f, bare.terms.layers[0].f + 0.9 * radius * along.norm()) << c.seed;
            const Rows& x = data.blocks.front().x;
            const auto layers = run_layers(other, x * other.A.transpose());
            const std::vector<Rows> truth(layers.size(), x);
            EXPECT_EQ(exceeds(distances(layers, truth), wide.bound.error), std::nullopt) << c.seed;
        }
}

}  // namespace pibinn::testing
