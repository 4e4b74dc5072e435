// What a verdict may claim, and of what.
#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/suggest.hpp"
#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

/// The identity, but for two of many entries that disturb each other: few draws see them together.
Model one_bad_pair(float coupling, float theta) {
    constexpr std::size_t n = 60;
    Model model;
    model.spec.layers = 2;
    model.spec.activation = Activation::hard;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    AlignedBuffer<float> a(n * n, 0.0F);
    for (std::size_t i = 0; i < n; ++i) a[i * n + i] = 1;
    model.op = Operator(Structure::dense(n, n), a);
    a[1] = a[n] = coupling;
    model.weights.assign(2, a);
    model.theta.assign(2, theta);
    return model;
}

Certificate certify_pairs(const Model& model, CertificateOptions options = {}) {
    ThreadPool pool(1);
    options.B = 1;
    CertificateInput input;
    input.size = 2;
    input.samples = 20;
    return certify(model, input, options, pool);
}

bool says(const Certificate& c, const std::string& words) {
    return c.why.find(words) != std::string::npos;
}

}  // namespace

TEST(Verdict, OfASizeIsAboutAllSupportsAndNotTheOnesDrawn) {
    const Certificate drawn = certify_pairs(one_bad_pair(0.5F, 0.501F));
    EXPECT_EQ(drawn.verdict, Verdict::on_supports);
    EXPECT_FALSE(drawn.over_all);
    EXPECT_TRUE(says(drawn, "supports drawn of 2 entries"));
    EXPECT_TRUE(
        says(drawn, "not proven for all supports of that size: the bound of the last layer"));

    // E_1 = 0.25 + 0.3 sqrt(2), and the second layer needs 0.25 E_1.
    const Model model = one_bad_pair(0.25F, 0.3F);
    const Certificate all = certify_pairs(model);
    EXPECT_EQ(all.verdict, Verdict::guaranteed);
    EXPECT_TRUE(all.over_all);
    EXPECT_TRUE(says(all, "all supports of 2 entries"));
    EXPECT_NEAR(all.bound.error[0], 0.25 + 0.3 * std::sqrt(2.0), 1e-6);
    // The pair that no draw has to see.
    const BlockNetwork network = block_networks(model).front();
    Rows x = Rows::Zero(1, 60);
    x(0, 0) = std::sqrt(0.5);
    x(0, 1) = -std::sqrt(0.5);
    const auto layers = run_layers(network, x * network.A.transpose());
    const std::vector<Rows> truth(layers.size(), x);
    EXPECT_EQ(exceeds(distances(layers, truth), all.bound.error), std::nullopt);
    const ErrorBound seen = error_bound(drawn.terms);
    const BlockNetwork bad = block_networks(one_bad_pair(0.5F, 0.501F)).front();
    EXPECT_NE(exceeds(distances(run_layers(bad, x * bad.A.transpose()), truth), seen.error),
              std::nullopt);
}

TEST(Verdict, RadiiAreInflatedByWhatHoldsForAllSupports) {
    // A long column of weights that the operator does not see, unless it moves.
    Model model = one_bad_pair(0, 0.9F);
    Matrix<float> a(61, 60), w(61, 60);
    for (std::size_t i = 0; i < 60; ++i) a(i, i) = w(i, i) = 1;
    w(60, 7) = 20;
    model.op = Operator::from_dense(a);
    const Operator weights = Operator::from_dense(w);
    model.weights.assign(2, {weights.values().begin(), weights.values().end()});
    CertificateOptions options;
    options.operator_radius = 0.1;
    const Certificate c = certify_pairs(model, options);
    BlockNetwork other = block_networks(model).front();
    other.A(60, 7) += 0.1;
    const double f = spectral_norm(step_on_support(other, 0, {0, {7, 8}}));
    EXPECT_GT(f, 1.9);
    EXPECT_GE(c.all->terms.layers[0].f, f);
    EXPECT_FALSE(c.over_all);
}

TEST(Verdict, ARunOfTheNominalNetworkSaysNothingOfRadiiOrMoreNoise) {
    Model model = one_bad_pair(0, 1e-3F);
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{3}, 20, 1, 1);
    CertificateOptions nominal;
    EXPECT_EQ(certify(model, input, nominal, pool).verdict, Verdict::guaranteed);
    for (double CertificateOptions::*asked :
         {&CertificateOptions::operator_radius, &CertificateOptions::weight_radius,
          &CertificateOptions::threshold_radius, &CertificateOptions::noise}) {
        CertificateOptions options;
        options.*asked = 0.1;
        const Certificate c = certify(model, input, options, pool);
        EXPECT_EQ(c.verdict, Verdict::none);
        EXPECT_TRUE(says(c, "nominal network and the measured noise (up to 0) only")) << c.why;
        EXPECT_EQ(c.proven.op + c.proven.measurement + c.proven.weights + c.proven.thresholds, 0);
    }
}

TEST(Verdict, ResponsesAreProvenUpToWhatWasAskedFor) {
    const Model model = one_bad_pair(0, 0.5F);
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{3}, 20, 1, 1);
    CertificateOptions options;
    options.B = 2;
    options.noise = 0.1;
    options.operator_radius = 0.07;
    options.weight_radius = 0.01;
    const Certificate c = certify(model, input, options, pool);
    EXPECT_EQ(c.verdict, Verdict::guaranteed) << c.why;
    EXPECT_TRUE(says(c, "noise up to 0.1, operators within 0.07, weights within 0.01"));
    EXPECT_DOUBLE_EQ(c.proven.op, 0.05);  // a y that stays is off by rho B
    EXPECT_DOUBLE_EQ(c.proven.op_noise, 0);
    EXPECT_DOUBLE_EQ(c.proven.measurement, 0.1);
    EXPECT_DOUBLE_EQ(c.proven.weights, 0.01);
    EXPECT_EQ(c.proven.thresholds, 0);
    EXPECT_THROW(suggest(model, input, options, pool), Error);
}

Model two_layers_on_the_identity(Activation activation, const AlignedBuffer<float>& weights) {
    Model model;
    model.spec.layers = 2;
    model.spec.activation = activation;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator(Structure::dense(2, 2), {1, 0, 0, 1});
    model.weights.assign(2, weights);
    model.theta.assign(2, 0);
    return model;
}

// The noise that y has already cannot be spent on the operator as well: A' with y off by all of
// `noise` leaves the support, and moves x_2 much further than Stab Q says.
TEST(Verdict, StabQIsProvenForWhatNoiseIsLeftBesideTheMeasuredOne) {
    Model model = two_layers_on_the_identity(Activation::soft, {1, 0, 0, 10});
    model.theta = {0.5000001F, 0.3188F};
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = Batch(1, 2);
    input.measurements = Batch(1, 2);
    input.signals(0, 0) = input.measurements(0, 0) = 2;
    input.measurements(0, 1) = 0.025F;
    const double rho = 0.0125;
    BlockNetwork other = block_networks(model).front();
    other.A(1, 0) = -rho;
    const Rows y = split_signals(model, block_networks(model), input).blocks.front().y;
    const auto moved = [&] {
        other.theta = block_networks(model).front().theta;
        return distances(run_layers(block_networks(model).front(), y), run_layers(other, y))[1];
    };
    CertificateOptions options;
    options.operator_radius = rho;
    const Certificate spent = certify(model, input, options, pool);
    EXPECT_EQ(spent.verdict, Verdict::guaranteed) << spent.why;
    EXPECT_GT(moved(), 4 * spent.response->stab_q[1] * rho);
    EXPECT_EQ(spent.proven.op, 0);

    // Half of what rho B takes is left for half of rho.
    options.noise = spent.measured_noise + 0.5 * rho * 2;
    keep_support(model, input, options, pool);
    const Certificate half = certify(model, input, options, pool);
    EXPECT_EQ(half.verdict, Verdict::guaranteed) << half.why;
    EXPECT_DOUBLE_EQ(half.proven.op, 0.5 * rho);
    EXPECT_DOUBLE_EQ(half.proven.op_noise, half.measured_noise);

    options.noise = spent.measured_noise + rho * 2;
    keep_support(model, input, options, pool);
    const Certificate whole = certify(model, input, options, pool);
    EXPECT_EQ(whole.verdict, Verdict::guaranteed) << whole.why;
    EXPECT_DOUBLE_EQ(whole.proven.op, rho);
    EXPECT_LE(moved(), whole.response->stab_q[1] * rho);
}

// Nothing can become active outside a support of all entries, whatever thresholds and noise.
TEST(Verdict, ASupportOfAllEntriesNeedsNoThreshold) {
    const Model model = two_layers_on_the_identity(Activation::hard, {0.5F, 0, 0, 0.5F});
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{0, 1}, 5, 1, 1);
    CertificateOptions options;
    options.noise = 0.5;
    EXPECT_EQ(certify(model, input, options, pool).verdict, Verdict::guaranteed);
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{0}, 5, 1, 1);
    EXPECT_EQ(certify(model, input, options, pool).verdict, Verdict::none);
}

}  // namespace pibinn::testing
