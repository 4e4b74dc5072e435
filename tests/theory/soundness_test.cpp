// Draws problems that meet the assumptions and checks that no layer ever passes its bound.
#include <gtest/gtest.h>

#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

constexpr double kNoise = 0.02;

Rows noise_for(const Rows& y, double size, Stream& stream) {
    Rows out(y.rows(), y.cols());
    for (Eigen::Index i = 0; i < out.size(); ++i) out.data()[i] = stream.normal();
    for (Eigen::Index i = 0; i < out.rows(); ++i) out.row(i) *= size / out.row(i).norm();
    return out;
}

/// A case with thresholds that are known to keep the support under `options`.
struct Certified {
    Model model;
    CertificateInput input;
    Certificate certificate;
    BlockNetwork network;
    BlockData data;

    Certified(const Case& c, const CertificateOptions& options, ThreadPool& pool)
        : model(model_of_case(c)), input(input_of_case(c, model)) {
        keep_support(model, input, options, pool);
        certificate = certify(model, input, options, pool);
        const auto networks = block_networks(model);
        network = networks.front();
        data = split_signals(model, networks, input);
    }
    const Support& support() const { return data.supports.front(); }
    const Rows& y() const { return data.blocks.front().y; }
};

}  // namespace

TEST(Soundness, ErrorsStayUnderTheirBound) {
    ThreadPool pool(1);
    std::size_t guaranteed = 0;
    for (const Case& c : some_cases()) {
        const Certified it(c, {}, pool);
        ASSERT_EQ(it.certificate.bound.first_leak, 0U) << c.seed;
        guaranteed += it.certificate.verdict == Verdict::guaranteed;
        EXPECT_EQ(it.certificate.measured.back().leaks, 0U);
        EXPECT_EQ(exceeds(errors_of(it.certificate), it.certificate.bound.error), std::nullopt)
            << c.seed;
    }
    EXPECT_GE(guaranteed, 20U);  // of 24: the draw is one that the theory is about
}

TEST(Soundness, ErrorsStayUnderTheirBoundWithNoise) {
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        CertificateOptions options;
        options.noise = kNoise;
        const Certified it(c, options, pool);
        Stream stream(c.seed, Purpose::tests, 3);
        const auto layers = run_layers(it.network, it.y() + noise_for(it.y(), kNoise, stream));
        const std::vector<Rows> truth(layers.size(), it.data.blocks.front().x);
        EXPECT_EQ(exceeds(distances(layers, truth), it.certificate.bound.error), std::nullopt)
            << c.seed;
    }
}

TEST(Soundness, ErrorsOnSeveralLargerSupportsStayUnderTheirBound) {
    ThreadPool pool(1);
    std::size_t guaranteed = 0, several = 0;
    for (Case c : some_cases()) {
        c.m = 3000;
        c.n = 16;
        c.layers = 4;
        c.s = 3 + c.seed % 6;
        Model model = model_of_case(c);
        CertificateInput input;
        input.signals = signals_of_size(model, c.s, 25, 1e9, c.seed);
        CertificateOptions options;
        options.noise = kNoise;
        keep_support(model, input, options, pool);
        const Certificate certificate = certify(model, input, options, pool);
        ASSERT_EQ(certificate.bound.first_leak, 0U) << c.seed;
        ASSERT_EQ(certificate.support_size, c.s);
        guaranteed += certificate.verdict == Verdict::guaranteed;
        several += certificate.supports > 10;
        const auto networks = block_networks(model);
        const BlockSignals parts = split_signals(model, networks, input).blocks.front();
        Stream stream(c.seed, Purpose::tests, 4);
        const auto layers =
            run_layers(networks.front(), parts.y + noise_for(parts.y, kNoise, stream));
        const std::vector<Rows> truth(layers.size(), parts.x);
        EXPECT_EQ(exceeds(distances(layers, truth), certificate.bound.error), std::nullopt)
            << c.seed;
    }
    EXPECT_GE(guaranteed, 20U);
    EXPECT_EQ(several, 24U);
}

TEST(Soundness, TheThresholdsThatEquationTo7AsksForGiveThePapersRate) {
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        Model model = model_of_case(c);
        const CertificateInput input = input_of_case(c, model);
        const auto asked = certify(model, input, {}, pool).asked;
        for (std::size_t k = 0; k < c.layers; ++k)
            model.theta[k] = static_cast<float>(asked.theta[k] * (1 + 1e-6));
        const Certificate certificate = certify(model, input, {}, pool);
        EXPECT_EQ(certificate.bound.first_leak, 0U);
        std::vector<double> rounded_up;  // float32 thresholds are a little larger than asked
        for (const double e : asked.error) rounded_up.push_back(e * (1 + 1e-5));
        EXPECT_EQ(exceeds(errors_of(certificate), rounded_up), std::nullopt) << c.seed;
        if (c.activation == Activation::soft && certificate.alpha < 1) {
            std::vector<double> cvg;
            for (const double e : certificate.cvg) cvg.push_back(e * (1 + 1e-5));
            EXPECT_EQ(exceeds(errors_of(certificate), cvg), std::nullopt) << c.seed;
        }
    }
}

TEST(Soundness, AnotherOperatorOrMeasurementMovesNoLayerPastItsBound) {
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        const double rho = 0.03, change = 0.05;
        CertificateOptions options;
        options.operator_radius = rho;
        options.B = 8;
        // y stays while A moves: to the new operator that is noise of rho B.
        options.noise = rho * options.B + change;
        const Certified it(c, options, pool);
        ASSERT_EQ(it.certificate.bound.first_leak, 0U);
        const ResponseBounds& bounds = *it.certificate.response;
        const auto layers = run_layers(it.network, it.y());
        for (std::uint64_t draw = 0; draw < 4; ++draw) {
            Stream stream(c.seed, Purpose::tests, 10 + draw);
            BlockNetwork other = it.network;
            other.A += random_matrix(c.m, c.n, rho, stream);
            const double moved = spectral_norm(columns(other.A - it.network.A, it.support()));
            const Rows y = it.y() + noise_for(it.y(), change, stream);
            std::vector<double> for_q, for_b, for_both;
            for (std::size_t k = 0; k < c.layers; ++k) {
                for_q.push_back(bounds.stab_q[k] * moved + bounds.jump[k]);
                for_b.push_back(bounds.stab_b[k] * change + bounds.jump[k]);
                for_both.push_back(bounds.stab_q[k] * moved + bounds.stab_b[k] * change +
                                   bounds.jump[k]);
            }
            EXPECT_EQ(exceeds(distances(run_layers(other, it.y()), layers), for_q), std::nullopt);
            EXPECT_EQ(exceeds(distances(run_layers(it.network, y), layers), for_b), std::nullopt);
            EXPECT_EQ(exceeds(distances(run_layers(other, y), layers), for_both), std::nullopt);
        }
    }
}

TEST(Soundness, OtherParametersMoveNoLayerPastItsBound) {
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        const double eta = 0.03, step = 0.01;
        CertificateOptions options;
        options.weight_radius = eta;
        options.threshold_radius = step;
        const Certified it(c, options, pool);
        ASSERT_EQ(it.certificate.bound.first_leak, 0U);
        const ResponseBounds& bounds = *it.certificate.response;
        const auto layers = run_layers(it.network, it.y());
        for (std::size_t i = 0; i <= c.layers; ++i) {  // one layer after the other, then all
            Stream stream(c.seed, Purpose::tests, 20 + i);
            BlockNetwork other = it.network;
            std::vector<double> for_w(c.layers, 0.0), for_theta(c.layers, 0.0);
            BlockNetwork raised = it.network;
            for (std::size_t j = 0; j < c.layers; ++j) {
                if (i < c.layers && i != j) continue;
                other.W[j] += random_matrix(c.m, c.n, eta, stream);
                raised.theta[j] += step;
                const double moved =
                    spectral_norm(columns(other.W[j] - it.network.W[j], it.support()));
                for (std::size_t k = j; k < c.layers; ++k) {
                    for_w[k] += bounds.sens_w(k, j) * moved;
                    for_theta[k] += bounds.sens_theta(k, j) * step;
                }
            }
            for (std::size_t k = 0; k < c.layers; ++k) {
                for_w[k] += bounds.jump[k];
                for_theta[k] += bounds.jump[k];
            }
            EXPECT_EQ(exceeds(distances(run_layers(other, it.y()), layers), for_w), std::nullopt)
                << c.seed << " layer " << i;
            EXPECT_EQ(exceeds(distances(run_layers(raised, it.y()), layers), for_theta),
                      std::nullopt)
                << c.seed << " layer " << i;
        }
    }
}

TEST(Soundness, NoLayerIsLongerThanZeta) {
    ThreadPool pool(1);
    for (const Case& c : some_cases()) {
        const Certified it(c, {}, pool);
        std::vector<double> lengths;
        for (const Rows& x : run_layers(it.network, it.y()))
            lengths.push_back(x.rowwise().norm().maxCoeff());
        EXPECT_EQ(exceeds(lengths, it.certificate.response->zeta), std::nullopt);
    }
}

// On a support of all entries nothing can become active outside it, whatever the thresholds.
TEST(Soundness, ErrorsOfTheAcceleratedUpdateStayUnderTheirBound) {
    ThreadPool pool(1);
    std::vector<Update> updates;
    for (const bool residual : {false, true})
        for (const bool momentum : {false, true})
            for (const bool onsager : {false, true})
                updates.push_back({residual, momentum, onsager});
    for (const Update& update : updates)
        for (Case c : some_cases(update)) {
            c.m = 40;
            c.n = c.s = 4;
            Model model = model_of_case(c);
            for (std::size_t k = 0; k < c.layers; ++k) model.theta[k] = 0.05F;
            const CertificateInput input = input_of_case(c, model);
            const Certificate certificate = certify(model, input, {}, pool);
            EXPECT_TRUE(certificate.followed);
            EXPECT_EQ(certificate.measured.back().leaks, 0U);
            EXPECT_EQ(exceeds(errors_of(certificate), certificate.bound.error), std::nullopt)
                << c.seed;
        }
}

TEST(Soundness, AResidualThresholdKeepsTheSupportFromWhatIsNeededOn) {
    ThreadPool pool(1);
    Case c;
    c.m = 60;
    c.n = 30;
    c.gain = 0.2;
    c.update = {true, true, true};
    for (c.seed = 1; c.seed <= 10; ++c.seed) {
        Model model = model_of_case(c);
        const CertificateInput input = input_of_case(c, model);
        keep_support(model, input, {}, pool);
        const Certificate certificate = certify(model, input, {}, pool);
        EXPECT_EQ(certificate.bound.first_leak, 0U);
        for (const MeasuredLayer& layer : certificate.measured) EXPECT_EQ(layer.leaks, 0U);
        EXPECT_EQ(exceeds(errors_of(certificate), certificate.bound.error), std::nullopt);
    }
}

}  // namespace pibinn::testing
