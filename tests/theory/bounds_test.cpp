// Cases small enough to be done by hand, and bounds that are wrong on purpose.
#include <gtest/gtest.h>

#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

/// One entry, four measurements: x_k is a number, W^T A = gain, and the bounds are equalities.
Model one_entry(double delta, double gain, double theta, Activation activation = Activation::soft) {
    Model model;
    model.spec.layers = 4;
    model.spec.activation = activation;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.spec.delta = delta;
    model.op = Operator(Structure::dense(4, 1), {1, 0, 0, 0});
    for (int k = 0; k < 4; ++k) model.weights.push_back({static_cast<float>(gain), 0, 0, 0});
    model.theta.assign(4, static_cast<float>(theta));
    return model;
}

CertificateInput one_signal(float value) {
    CertificateInput input;
    input.signals = Batch(1, 1);
    input.signals(0, 0) = value;
    return input;
}

std::vector<double> scaled(std::vector<double> values, double by) {
    for (double& v : values) v *= by;
    return values;
}

std::vector<double> distances_of(const BlockNetwork& a, const Rows& ya, const BlockNetwork& b,
                                 const Rows& yb) {
    return distances(run_layers(a, ya), run_layers(b, yb));
}

}  // namespace

TEST(Bounds, AreReachedByOneEntryAndFailOnceTheyAreLower) {
    ThreadPool pool(1);
    const Model model = one_entry(0.75, 0.5, 0.125);
    const Certificate c = certify(model, one_signal(2), {}, pool);
    // E_1 = f B + (1 - delta) B + theta = 0.25 * 2 + 0.25 * 2 + 0.125
    EXPECT_DOUBLE_EQ(c.bound.error[0], 1.125);
    EXPECT_DOUBLE_EQ(c.bound.error[1], 0.25 * 1.125 + 0.625);
    const auto errors = errors_of(c);
    EXPECT_EQ(exceeds(errors, c.bound.error), std::nullopt);
    EXPECT_NE(exceeds(errors, scaled(c.bound.error, 0.999)), std::nullopt);

    BoundInputs no_delta = c.terms;
    no_delta.delta = 1;
    EXPECT_NE(exceeds(errors, error_bound(no_delta).error), std::nullopt);
    BoundInputs no_theta = c.terms;
    for (LayerTerms& layer : no_theta.layers) layer.theta = 0;
    EXPECT_NE(exceeds(errors, error_bound(no_theta).error), std::nullopt);
    BoundInputs smaller_f = c.terms;
    smaller_f.layers[2].f *= 0.99;
    EXPECT_NE(exceeds(errors, error_bound(smaller_f).error), std::nullopt);
}

TEST(Bounds, OfResponsesAreReachedByOneEntryAndFailOnceTheyAreLower) {
    ThreadPool pool(1);
    const Model model = one_entry(1, 0.5, 0.125);
    CertificateOptions options;
    const ResponseBounds bounds = *certify(model, one_signal(2), options, pool).response;
    const BlockNetwork network = block_networks(model).front();
    Rows y(1, 4);
    y << 2, 0, 0, 0;

    Rows moved = y;
    moved(0, 0) += 0.25;
    const auto by_b = distances_of(network, y, network, moved);
    EXPECT_EQ(exceeds(by_b, scaled(bounds.stab_b, 0.25)), std::nullopt);
    EXPECT_NE(exceeds(by_b, scaled(bounds.stab_b, 0.25 * 0.999)), std::nullopt);

    BlockNetwork other = network;
    other.W[0](0, 0) -= 0.25;
    std::vector<double> by_w0;
    for (std::size_t k = 0; k < 4; ++k) by_w0.push_back(bounds.sens_w(k, 0) * 0.25);
    EXPECT_EQ(exceeds(distances_of(network, y, other, y), by_w0), std::nullopt);
    EXPECT_NE(exceeds(distances_of(network, y, other, y), scaled(by_w0, 0.999)), std::nullopt);

    BlockNetwork raised = network;
    raised.theta[1] += 0.125;
    std::vector<double> by_theta1{0};
    for (std::size_t k = 1; k < 4; ++k) by_theta1.push_back(bounds.sens_theta(k, 1) * 0.125);
    EXPECT_EQ(exceeds(distances_of(network, y, raised, y), by_theta1), std::nullopt);
    EXPECT_NE(exceeds(distances_of(network, y, raised, y), scaled(by_theta1, 0.999)), std::nullopt);

    // f = 0 and theta = 0: x_1 = x, so that the second layer's response to A is w ||x||.
    const Model exact = one_entry(1, 1, 0);
    options.operator_radius = 0.125;
    const Certificate c = certify(exact, one_signal(2), options, pool);
    BlockNetwork longer = block_networks(exact).front();
    const BlockNetwork shorter = longer;
    longer.A(0, 0) += 0.125;
    const auto by_q = distances_of(shorter, y, longer, y);
    EXPECT_EQ(exceeds(by_q, scaled(c.response->stab_q, 0.125)), std::nullopt);
    EXPECT_NE(exceeds(by_q, scaled(c.response->stab_q, 0.125 * 0.8)), std::nullopt);
}

// Appendix C says alpha^k B for `hard`; that supposes that every entry of S passes its threshold.
TEST(Bounds, ThePapersOneForHardFailsWhereAnEntryDoesNotPass) {
    ThreadPool pool(1);
    Model model;
    model.spec.layers = 1;
    model.spec.activation = Activation::hard;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator(Structure::dense(2, 2), {1, 0, 0.375F, 1});
    model.weights.push_back({0.875F, 0, 0, 0.875F});
    CertificateInput input;
    input.signals = Batch(2, 2);
    input.signals(0, 0) = 1;      // sets B
    input.signals(1, 0) = 0.25F;  // too small for the threshold of the largest
    model.theta = {0};
    const double asked = certify(model, input, {}, pool).asked.theta[0];
    model.theta = {static_cast<float>(asked)};
    const Certificate c = certify(model, input, {}, pool);
    EXPECT_DOUBLE_EQ(c.alpha, 0.125);
    EXPECT_EQ(c.measured[0].misses, 1U);
    EXPECT_NE(exceeds(errors_of(c), c.cvg), std::nullopt);
    EXPECT_EQ(exceeds(errors_of(c), c.bound.error), std::nullopt);
    EXPECT_EQ(exceeds(errors_of(c), c.asked.error), std::nullopt);
}

// A jump of `hard`: the smallest change of y moves x_1 by theta.
TEST(Bounds, OfHardNeedTheirJump) {
    ThreadPool pool(1);
    const Model model = one_entry(1, 1, 0.5, Activation::hard);
    const Certificate c = certify(model, one_signal(2), {}, pool);
    const BlockNetwork network = block_networks(model).front();
    Rows below(1, 4), above(1, 4);
    below << 0.5 - 1e-6, 0, 0, 0;
    above << 0.5, 0, 0, 0;
    const auto moved = distances_of(network, below, network, above);
    const auto smooth = scaled(c.response->stab_b, 1e-6);
    std::vector<double> bound = smooth;
    for (std::size_t k = 0; k < bound.size(); ++k) bound[k] += c.response->jump[k];
    EXPECT_NE(exceeds(moved, smooth), std::nullopt);
    EXPECT_EQ(exceeds(moved, bound), std::nullopt);
}

TEST(Bounds, CvgIsThePapersFormula) {
    BoundInputs in;
    in.activation = Activation::soft;
    in.delta = 0.75;
    in.s = 2;
    in.B = 3;
    in.layers.resize(2);
    in.layers[0].f = 0.25;
    in.layers[0].mu = 0.125;
    in.layers[1].f = 0.5;
    EXPECT_DOUBLE_EQ(alpha(in), 0.5);
    EXPECT_DOUBLE_EQ(cvg(in)[0], 0.5 * 3 + 0.25 / 0.5 * 3);
    EXPECT_DOUBLE_EQ(cvg(in)[1], 0.25 * 3 + 0.25 / 0.5 * 3);
    in.layers[1].f = 1;
    EXPECT_TRUE(std::isinf(cvg(in)[0]));
    // theta_1 = mu sqrt(s) B, term (a) = 2 mu s B, term (b) of the second layer f_2 times that.
    const AskedThresholds asked = asked_thresholds(in);
    EXPECT_DOUBLE_EQ(asked.theta[0], 0.125 * std::sqrt(2.0) * 3);
    const ResponseBounds bounds = response_bounds(in, error_bound(in));
    EXPECT_DOUBLE_EQ(bounds.term_a[0], 2 * 0.125 * 2 * 3);
    EXPECT_DOUBLE_EQ(bounds.term_b[0], 0);
    EXPECT_DOUBLE_EQ(bounds.term_b[1], bounds.term_a[0]);
}

TEST(Bounds, SumsAndProductsAreThoseOfAppendixD) {
    BoundInputs in;
    in.activation = Activation::hard;
    in.s = 1;
    in.B = 1;
    in.layers.resize(3);
    for (std::size_t k = 0; k < 3; ++k) {
        in.layers[k].f = 0.5;
        in.layers[k].weight = static_cast<double>(k + 1);
    }
    const ErrorBound error = error_bound(in);
    const ResponseBounds b = response_bounds(in, error);
    EXPECT_DOUBLE_EQ(b.stab_b[2], 3 + 2 * 0.5 + 1 * 0.25);
    // zeta_0 = 0, zeta_1 = 0.5 * 1 + 1, zeta_2 = 0.5 * 0.5 + 1
    EXPECT_DOUBLE_EQ(b.stab_q[2], 3 * 1.25 + 2 * 1.5 * 0.5);
    EXPECT_DOUBLE_EQ(b.sens_theta(2, 0), 0.25);
    EXPECT_DOUBLE_EQ(b.sens_theta(0, 2), 0);
}

TEST(Bounds, TheoremOneIsItsFormula) {
    ResponseBounds response;
    response.stab_q = {2};
    response.jump = {0};
    response.sens_w = Matrix<double>(1, 1);
    response.sens_theta = Matrix<double>(1, 1);
    response.sens_w(0, 0) = 3;
    TheoremInputs inputs;
    inputs.N = 100;
    inputs.r = 4;
    inputs.t = 1;
    inputs.log_gamma = 0;
    inputs.b_theta = 0.5;
    // No covering number: only the 4 of the bracket is left.
    EXPECT_DOUBLE_EQ(theorem_1(inputs, 5, 1, response).value,
                     3 * 0.5 + std::sqrt(2.0) * 5 / 10 * 2 * 4);
    inputs.log_gamma = 9;
    const TheoremBound bound = theorem_1(inputs, 5, 1, response);
    EXPECT_DOUBLE_EQ(bound.C1, 9);
    EXPECT_DOUBLE_EQ(bound.C3, 0.9 + 3 * std::exp(-1.0));
    EXPECT_DOUBLE_EQ(bound.C2, 0.09 + (bound.C3 + 1) * 0.9);
    EXPECT_DOUBLE_EQ(bound.value,
                     1.5 + std::sqrt(2.0) * (std::sqrt(9 * 9 + bound.C2) + bound.C3 + 4));
}

}  // namespace pibinn::testing
