#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

/// Q[S, :] of a positive definite Q with S = {0, 2, 3}, and weights that are lambda on the diagonal
/// of the support and zero elsewhere.
Model diagonal_gram(double lambda, Eigen::Matrix3d& q) {
    Eigen::MatrixXd a(6, 5);
    Stream stream(3, Purpose::tests);
    for (Eigen::Index i = 0; i < a.size(); ++i) a.data()[i] = stream.normal();
    const Eigen::MatrixXd whole = a.transpose() * a;
    const int support[3] = {0, 2, 3};
    Matrix<float> rows(3, 5);
    AlignedBuffer<float> w(15, 0.0F);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 5; ++j)
            rows(static_cast<std::size_t>(i), static_cast<std::size_t>(j)) =
                static_cast<float>(whole(support[i], j));
        for (int j = 0; j < 3; ++j) q(i, j) = static_cast<float>(whole(support[i], support[j]));
        w[static_cast<std::size_t>(support[i] * 3 + i)] = static_cast<float>(lambda);
    }
    Model model;
    model.spec.layers = 2;
    model.spec.activation = Activation::hard;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator::from_dense(rows);
    model.weights = {w, w};
    model.theta = {0, 0};
    return model;
}

Certificate certify_support(const Model& model, std::vector<std::uint32_t> support,
                            CertificateOptions options = {}) {
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = signals_on_support(model, support, 20, 1e9, 1);
    return certify(model, input, options, pool);
}

std::string error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

Model small_model(Update update = Update::plain()) {
    Case c;
    c.m = 20;
    c.n = 8;
    c.update = update;
    return model_of_case(c);
}

}  // namespace

// Appendix C: W_S = lambda I with lambda < 1/L is in the HT set at delta 1, with f = 1 - lambda r.
TEST(Certificate, DiagonalBinaryWeightsAreInTheHardSetOfTheGramForm) {
    Eigen::Matrix3d q;
    diagonal_gram(1, q);
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> eigen(q);
    const double r = eigen.eigenvalues().minCoeff();
    const double L = eigen.eigenvalues().maxCoeff();
    CertificateOptions options;
    options.gram = true;
    const double lambda = static_cast<float>(0.99 / L);
    const Certificate c = certify_support(diagonal_gram(lambda, q), {0, 2, 3}, options);
    EXPECT_TRUE(c.member.hard);
    EXPECT_NEAR(c.terms.layers[0].f, 1 - lambda * r, 1e-6);
    EXPECT_NEAR(c.r, r, 1e-6 * L);
    EXPECT_NEAR(c.L, L, 1e-6 * L);
    // Beyond 2/L the step overshoots.
    EXPECT_FALSE(certify_support(diagonal_gram(2.01 / L, q), {0, 2, 3}, options).member.hard);
    EXPECT_NE(error_of([&] {
                  certify_support(diagonal_gram(lambda, q), {0, 1, 2}, options);
              }).find("not symmetric"),
              std::string::npos);
    EXPECT_NE(error_of([&] {
                  certify_support(diagonal_gram(lambda, q), {0, 2}, options);
              }).find("2 rows, got 3"),
              std::string::npos);
}

TEST(Certificate, GoodWeightsHaveAUnitDiagonal) {
    Case c;
    c.weights = WeightKind::real;
    Model model = model_of_case(c);
    EXPECT_FALSE(certify_support(model, {1, 4}).member.good);
    for (auto& layer : model.weights)
        for (std::size_t j = 0; j < c.n; ++j) {
            double dot = 0;
            for (std::size_t i = 0; i < c.m; ++i)
                dot += double{layer[j * c.m + i]} * model.op.values()[j * c.m + i];
            for (std::size_t i = 0; i < c.m; ++i)
                layer[j * c.m + i] = static_cast<float>(layer[j * c.m + i] / dot);
        }
    EXPECT_TRUE(certify_support(model, {1, 4}).member.good);
}

TEST(Certificate, BoundForAllSupportsCoversEachOfThem) {
    Case c;
    c.m = 20;
    c.n = 8;
    c.layers = 2;
    const Model model = model_of_case(c);
    const auto networks = block_networks(model);
    ThreadPool pool(1);
    const SpectralTerms bound = terms_of_all_supports(networks, 3);
    std::vector<Support> supports;
    for (std::uint32_t i = 0; i < 8; ++i)
        for (std::uint32_t j = i + 1; j < 8; ++j)
            for (std::uint32_t k = j + 1; k < 8; ++k) supports.push_back({0, {i, j, k}});
    const SpectralTerms terms = spectral_terms(networks, supports, pool);
    for (std::size_t k = 0; k < 2; ++k) {
        const LayerTerms &seen = terms.layers[k], &most = bound.layers[k];
        EXPECT_LE(seen.f, most.f);
        EXPECT_LE(most.f, 2 * seen.f);  // and says something
        EXPECT_LE(seen.leak, most.leak);
        EXPECT_LE(most.leak, most.mu * std::sqrt(3.0));
        EXPECT_LE(seen.weight, most.weight);
        EXPECT_LE(most.weight, std::sqrt(3.0) * most.column * (1 + 1e-12));
        EXPECT_LE(seen.projected_leak, most.projected_leak);
        EXPECT_DOUBLE_EQ(seen.mu, most.mu);
    }
    EXPECT_LE(terms.operator_norm, bound.operator_norm);
    EXPECT_LE(bound.operator_norm, 2 * terms.operator_norm);
}

TEST(Certificate, TermsAreWhatTheirDefinitionsSay) {
    const Model model = small_model();
    const auto network = block_networks(model).front();
    ThreadPool pool(1);
    const Support support{0, {1, 3, 6}};
    const LayerTerms t = spectral_terms({network}, {support}, pool).layers[2];
    const Eigen::MatrixXd ws = columns(network.W[2], support), as = columns(network.A, support);
    const Eigen::MatrixXd step = Eigen::MatrixXd::Identity(3, 3) - ws.transpose() * as;
    EXPECT_NEAR(t.f, step.jacobiSvd().singularValues()[0], 1e-12);
    EXPECT_NEAR(t.weight, ws.jacobiSvd().singularValues()[0], 1e-12);
    double leak = 0, mu = 0;
    for (Eigen::Index i = 0; i < 8; ++i) {
        if (i != 1 && i != 3 && i != 6)
            leak = std::max(leak, (network.W[2].col(i).transpose() * as).norm());
        for (Eigen::Index j = 0; j < 8; ++j)
            if (i != j) mu = std::max(mu, std::abs(network.W[2].col(i).dot(network.A.col(j))));
    }
    EXPECT_NEAR(t.leak, leak, 1e-12);
    EXPECT_NEAR(t.mu, mu, 1e-12);
    EXPECT_LE(t.leak, t.mu * std::sqrt(3.0));
}

// Without thresholds the error is the product of the companion matrices, as they stand in the
// books.
TEST(Certificate, FollowsTheProductsOfCompanionMatrices) {
    Model model = small_model({false, true, false});
    std::fill(model.theta.begin(), model.theta.end(), 0.0F);
    const auto network = block_networks(model).front();
    const Support support{0, {0, 5}};
    SupportRecursion recursion(network, support, 2.0, 0);
    Eigen::MatrixXd start(4, 2);
    start << Eigen::MatrixXd::Identity(2, 2), Eigen::MatrixXd::Identity(2, 2);
    for (std::size_t k = 1; k <= model.spec.layers; ++k) {
        const Eigen::MatrixXd m = step_on_support(network, k - 1, support);
        Eigen::MatrixXd companion = Eigen::MatrixXd::Zero(4, 4);
        companion.topLeftCorner(2, 2) = (1 + network.beta[k - 1]) * m;
        companion.topRightCorner(2, 2) = -network.beta[k - 1] * m;
        companion.bottomLeftCorner(2, 2).setIdentity();
        start = companion * start;
        EXPECT_NEAR(recursion.advance({}), 2 * spectral_norm(start.topRows(2)), 1e-12);
    }
}

TEST(Certificate, SaysNoGuaranteeAndWhereForLargeAlpha) {
    Model model = small_model();
    for (float& w : model.weights[3]) w *= -1;
    const Certificate c = certify_support(model, {1, 2});
    EXPECT_EQ(c.verdict, Verdict::none);
    EXPECT_NE(c.why.find("not below 1"), std::string::npos);
    model = model_of_case({});
    for (float& w : model.weights[3]) w *= -1;
    EXPECT_NE(certify_support(model, {1}).why.find("(first in layer 4)"), std::string::npos);
}

TEST(Certificate, SaysNoGuaranteeAndWhereWhenTheSupportIsNotKept) {
    const Model model = model_of_case({});  // thresholds of zero
    const Certificate c = certify_support(model, {1});
    EXPECT_LT(c.alpha, 1);
    EXPECT_EQ(c.verdict, Verdict::none);
    EXPECT_NE(c.why.find("layer 1 activates entries outside the support of 20 of 20"),
              std::string::npos);
}

TEST(Certificate, HoldsOnTheDataWhenNoSignalLeftItsSupport) {
    Model model = model_of_case({});
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{1}, 20, 1e9, 1);
    keep_support(model, input, {}, pool);
    EXPECT_EQ(certify(model, input, {}, pool).verdict, Verdict::guaranteed);
    // B larger than any signal: the proof fails, the signals do not.
    CertificateOptions options;
    options.B = 100;
    const Certificate c = certify(model, input, options, pool);
    EXPECT_EQ(c.verdict, Verdict::on_data);
    EXPECT_EQ(exceeds(errors_of(c), c.bound.error), std::nullopt);
}

TEST(Certificate, OfRepetitionsIsThatOfTheBlock) {
    const Model block = small_model();
    Model repeated = block;
    repeated.op = Operator(Structure::repeated(20, 8, 3),
                           {block.op.values().begin(), block.op.values().end()});
    ThreadPool pool(1);
    CertificateInput parts;
    parts.signals = signals_of_size(block, 2, 30, 1e9, 5);
    CertificateInput whole;
    whole.signals = Batch(10, 24);  // the same numbers, three signals a row
    std::copy(parts.signals.values().begin(), parts.signals.values().end(),
              whole.signals.values().begin());
    const Certificate a = certify(block, parts, {}, pool);
    const Certificate b = certify(repeated, whole, {}, pool);
    EXPECT_EQ(a.supports, b.supports);
    EXPECT_EQ(a.signals, b.signals);
    EXPECT_EQ(a.bound.error, b.bound.error);
    EXPECT_EQ(errors_of(a), errors_of(b));
}

TEST(Certificate, OfBlocksIsTheWorstOfThem) {
    const Model first = small_model();
    Case other;
    other.m = 15;
    other.n = 6;
    other.seed = 9;
    const Model second = model_of_case(other);
    const std::vector<std::pair<std::size_t, std::size_t>> shapes{{20, 8}, {15, 6}};
    const auto joined = [](auto a, auto b) {
        AlignedBuffer<float> out(a.begin(), a.end());
        out.insert(out.end(), b.begin(), b.end());
        return out;
    };
    Model both = first;
    both.op = Operator(Structure::blocks(shapes), joined(first.op.values(), second.op.values()));
    for (std::size_t k = 0; k < first.spec.layers; ++k)
        both.weights[k] = joined(first.weights[k], second.weights[k]);
    const Certificate c = certify_support(both, {1, 2, 8 + 3, 8 + 5});
    const Certificate a = certify_support(first, {1, 2}), b = certify_support(second, {3, 5});
    EXPECT_EQ(c.supports, 2U);
    const bool second_is_worse = b.terms.layers[0].f > a.terms.layers[0].f;
    EXPECT_EQ(c.worst[0], (second_is_worse ? std::vector<std::uint32_t>{11, 13}
                                           : std::vector<std::uint32_t>{1, 2}));
    for (std::size_t k = 0; k < first.spec.layers; ++k) {
        EXPECT_DOUBLE_EQ(c.terms.layers[k].f, std::max(a.terms.layers[k].f, b.terms.layers[k].f));
        EXPECT_DOUBLE_EQ(c.terms.layers[k].mu,
                         std::max(a.terms.layers[k].mu, b.terms.layers[k].mu));
    }
}

TEST(Certificate, IsTheSameForAnyNumberOfThreads) {
    const Model model = small_model({true, true, true});
    CertificateInput input;
    input.signals = signals_of_size(model, 3, 300, 1e9, 5);
    ThreadPool one(1), three(3);
    const Certificate a = certify(model, input, {}, one), b = certify(model, input, {}, three);
    EXPECT_EQ(a.bound.error, b.bound.error);
    EXPECT_EQ(errors_of(a), errors_of(b));
    EXPECT_EQ(a.worst, b.worst);
}

TEST(Certificate, HashChangesWithEveryNumberOfTheModel) {
    const Model model = small_model({true, true, true});
    const std::string hash = weights_hash(model);
    Model other = model;
    other.weights[2][7] *= -1;
    EXPECT_NE(weights_hash(other), hash);
    other = model;
    other.omega[1] += 1;
    EXPECT_NE(weights_hash(other), hash);
    other = model;
    other.spec.activation = Activation::hard;
    EXPECT_NE(weights_hash(other), hash);
    other = model;
    other.spec.update.residual_threshold = false;
    EXPECT_NE(weights_hash(other), hash);
    other = model;
    other.op = Operator(Structure::repeated(20, 8, 2),
                        {model.op.values().begin(), model.op.values().end()});
    EXPECT_NE(weights_hash(other), hash);
    other = model;
    other.metadata["a"] = "b";
    EXPECT_EQ(weights_hash(other), hash);
}

TEST(Certificate, RefusesWhatCannotBeCertified) {
    Model model = small_model();
    const auto says = [&](const std::function<void()>& call, const std::string& words) {
        EXPECT_NE(error_of(call).find(words), std::string::npos) << error_of(call);
    };
    says([&] { certify_support(model, {}); }, "empty support");
    says([&] { certify_support(model, {8}); }, "support entry 8 is not below n = 8");
    says([&] { certify_support(model, {3, 3}); }, "named twice");
    says([&] { signals_of_size(model, 9, 1, 1, 1); }, "supports of 9 entries");
    ThreadPool pool(1);
    CertificateInput input;
    input.signals = Batch(2, 8);
    says([&] { certify(model, input, {}, pool); }, "all 2 signals are zero");
    input.signals = Batch(2, 7);
    says([&] { certify(model, input, {}, pool); }, "signals of 2 x 7");
    input.signals = signals_of_size(model, 2, 3, 1, 1);
    input.measurements = Batch(2, 20);
    says([&] { certify(model, input, {}, pool); }, "measurements of 2 x 20 for 3 signals");
    input.measurements = {};
    CertificateOptions options;
    options.B = 0.1;
    says([&] { certify(model, input, options, pool); }, "over B = 0.1");
    model.spec.activation = Activation::relu;
    says([&] { certify(model, input, {}, pool); }, "relu");
    Case wide;
    wide.m = 3;
    wide.n = 8;
    Model few = model_of_case(wide);
    says([&] { certify_support(few, {0, 1, 2, 3}); }, "4 entries in a block of 3 x 8");
    input.signals = Batch(1, 8);
    std::fill(input.signals.values().begin(), input.signals.values().end(), 1.0F);
    says([&] { certify(few, input, {}, pool); }, "only 3 measurements");
    few.op =
        Operator(Structure::repeated(3, 8, 2), {few.op.values().begin(), few.op.values().end()});
    says([&] { certify_support(few, {0, 1, 8, 9, 10, 11}); }, "4 entries in a block of 3 x 8");
    EXPECT_EQ(error_of([&] { certify_support(few, {0, 1, 8, 9, 10}); }), "none");
}

}  // namespace pibinn::testing
