// The Gram form: the operator is Q[S, :] of Q = A^T A, and A_S stands for Q[S, S].
#include <gtest/gtest.h>

#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

struct GramCase {
    Model model;
    std::vector<std::uint32_t> support;
    CertificateInput input;

    GramCase(const Case& c, double jitter) {
        const Model sensing = model_of_case(c);
        const Eigen::MatrixXd a = block_networks(sensing).front().A;
        const Eigen::MatrixXd q = a.transpose() * a;
        Stream stream(c.seed, Purpose::tests, 5);
        const auto order = stream.permutation(c.n);
        support.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(c.s));
        std::sort(support.begin(), support.end());
        model.spec = sensing.spec;
        model.spec.weights = WeightKind::real;
        model.theta.assign(c.layers, 0.0F);
        Matrix<float> rows(c.s, c.n);
        for (std::size_t i = 0; i < c.s; ++i)
            for (std::size_t j = 0; j < c.n; ++j)
                rows(i, j) = static_cast<float>(q(support[i], static_cast<Eigen::Index>(j)));
        model.op = Operator::from_dense(rows);
        for (std::size_t k = 0; k < c.layers; ++k) {
            AlignedBuffer<float> w(model.op.values().begin(), model.op.values().end());
            for (float& v : w) v = static_cast<float>(c.gain * (v + jitter * stream.normal()));
            model.weights.push_back(std::move(w));
        }
        input.signals = signals_on_support(model, support, 40, 1e9, c.seed);
    }
};

}  // namespace

TEST(Gram, ErrorsStayUnderTheirBoundWhateverTheOperatorWithinTheRadius) {
    ThreadPool pool(1);
    std::size_t guaranteed = 0;
    for (Case c : some_cases()) {
        c.s = 1 + c.seed % 5;
        c.m = 1500;
        GramCase gram(c, 0.01);
        CertificateOptions options;
        options.gram = true;
        options.noise = 0.02;
        options.operator_radius = 0.01;
        keep_support(gram.model, gram.input, options, pool);
        const Certificate certificate = certify(gram.model, gram.input, options, pool);
        ASSERT_EQ(certificate.bound.first_leak, 0U) << c.seed;
        guaranteed += certificate.verdict == Verdict::guaranteed;
        const BlockNetwork network = block_networks(gram.model).front();
        const Rows x = split_signals(gram.model, {network}, gram.input).blocks.front().x;
        for (std::uint64_t draw = 0; draw < 4; ++draw) {
            Stream stream(c.seed, Purpose::tests, 10 + draw);
            BlockNetwork other = network;
            other.A += random_matrix(c.s, c.n, options.operator_radius, stream);
            Rows y = x * other.A.transpose();
            for (Eigen::Index i = 0; i < y.rows(); ++i)
                y.row(i) += random_matrix(1, c.s, options.noise, stream);
            const auto layers = run_layers(other, y);
            const std::vector<Rows> truth(layers.size(), x);
            EXPECT_EQ(exceeds(distances(layers, truth), certificate.bound.error), std::nullopt)
                << c.seed << " draw " << draw;
        }
    }
    EXPECT_GE(guaranteed, 20U);
}

TEST(Gram, TermsAreThoseOfQOnTheSupport) {
    ThreadPool pool(1);
    Case c;
    c.s = 4;
    c.delta = 0.9;
    const GramCase gram(c, 0.05);
    CertificateOptions options;
    options.gram = true;
    const Certificate certificate = certify(gram.model, gram.input, options, pool);
    const BlockNetwork network = block_networks(gram.model).front();
    const Support support{0, gram.support};
    const Eigen::MatrixXd q = columns(network.A, support);
    const Eigen::VectorXd values = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(q).eigenvalues();
    EXPECT_NEAR(certificate.r, values.minCoeff(), 1e-9);
    EXPECT_NEAR(certificate.L, values.maxCoeff(), 1e-9);
    EXPECT_NEAR(certificate.terms.operator_norm, values.maxCoeff(), 1e-6);
    for (std::size_t k = 0; k < c.layers; ++k) {
        const Eigen::MatrixXd step =
            0.9 * Eigen::MatrixXd::Identity(4, 4) - columns(network.W[k], support).transpose() * q;
        EXPECT_NEAR(certificate.terms.layers[k].f, step.jacobiSvd().singularValues()[0], 1e-9);
    }
}

}  // namespace pibinn::testing
