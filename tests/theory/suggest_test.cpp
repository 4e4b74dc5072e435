#include <gtest/gtest.h>

#include "pibinn/suggest.hpp"
#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

/// Two entries on orthogonal columns: W^T A = diag(2, 4), so that alpha is read off.
Model two_entries(Activation activation) {
    Model model;
    model.spec.layers = 2;
    model.spec.activation = activation;
    model.spec.weights = WeightKind::real;
    model.spec.update = Update::plain();
    model.op = Operator(Structure::dense(2, 2), {1, 0, 0, 1});
    model.weights.assign(2, {2, 0, 0, 4});
    model.theta = {0, 0};
    return model;
}

CertificateInput both_entries(const Model& model) {
    CertificateInput input;
    input.signals = signals_on_support(model, std::vector<std::uint32_t>{0, 1}, 3, 1e9, 1);
    return input;
}

double alpha_at(Model model, const CertificateInput& input, double delta, double scale) {
    ThreadPool pool(1);
    model.spec.delta = delta;
    for (auto& layer : model.weights)
        for (float& w : layer) w = static_cast<float>(w * scale);
    return certify(model, input, {}, pool).alpha;
}

}  // namespace

TEST(Suggest, FindsTheIntervalsOfADiagonalByHand) {
    ThreadPool pool(1);
    const Model model = two_entries(Activation::hard);
    const Suggestion s = suggest(model, both_entries(model), {}, pool);
    // |1 - 2c| < 1 and |1 - 4c| < 1: c in (0, 1/2). |delta - 2|, |delta - 4| < 1: no delta.
    EXPECT_NEAR(s.now.alpha, 3, 1e-12);
    EXPECT_NEAR(s.scale_at_one.low, 0, 1e-6);
    EXPECT_NEAR(s.scale_at_one.high, 0.5, 1e-6);
    EXPECT_TRUE(s.delta_at_scale.empty());
    EXPECT_GE(s.largest_delta.alpha, 1);
    EXPECT_FALSE(s.open);
    EXPECT_FALSE(s.margin_delta);
    // max(1 - 2c, 4c - 1) is least at c = 1/3, where it is 1/3.
    ASSERT_TRUE(s.best);
    EXPECT_NEAR(s.best->delta, 1, 1e-12);
    EXPECT_NEAR(s.best->scale, 1.0 / 3, 1e-5);
    EXPECT_NEAR(s.best->alpha, 1.0 / 3, 1e-5);
}

// |delta + 0.2| and |delta - 0.1|: alpha < 1 below delta = 0.8, which is itself outside.
TEST(Suggest, AnOpenBorderPromisesNothingAndAMarginDoes) {
    ThreadPool pool(1);
    Model model = two_entries(Activation::hard);
    model.weights.assign(2, {-0.2F, 0, 0, 0.1F});
    CertificateOptions options;
    options.B = 10;
    const Suggestion s = suggest(model, both_entries(model), options, pool);
    EXPECT_TRUE(s.open);
    EXPECT_NEAR(s.largest_delta.delta, 0.8, 1e-6);
    EXPECT_EQ(s.largest_delta.alpha, 1);
    EXPECT_TRUE(std::isinf(s.largest_delta.cvg));
    ASSERT_TRUE(s.margin_delta);
    EXPECT_NEAR(s.margin_delta->delta, 0.75, 1e-6);
    EXPECT_NEAR(s.margin_delta->alpha, 0.95, 1e-6);
    EXPECT_NEAR(s.margin_delta->cvg, 10 * (0.95 * 0.95 + 0.25 / 0.05), 1e-3);

    // |1 - 0.5| and |1 - 0.6|: delta = 1 is inside, and so is the largest there is.
    model.weights.assign(2, {0.5F, 0, 0, 0.6F});
    const Suggestion inside = suggest(model, both_entries(model), options, pool);
    EXPECT_FALSE(inside.open);
    EXPECT_EQ(inside.largest_delta.delta, 1);
    EXPECT_NEAR(inside.largest_delta.cvg, 10 * 0.25, 1e-6);
    // |delta - 1.99| < 0.95 for no delta up to 1.
    model.weights.assign(2, {1.99F, 0, 0, 1.99F});
    EXPECT_FALSE(suggest(model, both_entries(model), options, pool).margin_delta);
}

TEST(Suggest, BordersAreWhereACertificateSeesAlphaPassOne) {
    ThreadPool pool(1);
    for (const Activation activation : {Activation::soft, Activation::hard})
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            Case c;
            c.seed = seed;
            c.activation = activation;
            c.m = 60;
            c.n = 20;
            c.weights = WeightKind::real;
            c.gain = 1.7;
            c.delta = 0.9;
            const Model model = model_of_case(c);
            CertificateInput input;
            input.signals = signals_of_size(model, 2, 200, 1e9, seed);
            const Suggestion s = suggest(model, input, {}, pool);
            EXPECT_NEAR(s.now.alpha, alpha_at(model, input, 0.9, 1), 1e-6);
            ASSERT_FALSE(s.scale_at_delta.empty());
            EXPECT_LT(alpha_at(model, input, 0.9, s.scale_at_delta.high * (1 - 1e-5)), 1);
            EXPECT_GT(alpha_at(model, input, 0.9, s.scale_at_delta.high * (1 + 1e-5)), 1);
            if (activation == Activation::soft && !s.best) {  // mu s is too large for any promise
                for (const double delta : {0.3, 0.6, 0.9, 1.0})
                    for (const double scale : {0.05, 0.2, 0.4, 0.6}) {
                        const double a = alpha_at(model, input, delta, scale);
                        EXPECT_TRUE(a >= 1 || std::pow(a, 6) + (1 - delta) / (1 - a) >= 1);
                    }
                continue;
            }
            ASSERT_TRUE(s.best);
            EXPECT_NEAR(s.best->alpha, alpha_at(model, input, s.best->delta, s.best->scale), 1e-5);
            // No neighbour promises more.
            for (const double by : {0.97, 1.03}) {
                const double a = alpha_at(model, input, s.best->delta, s.best->scale * by);
                EXPECT_GE(a, s.best->alpha - 1e-6);
            }
        }
}

}  // namespace pibinn::testing
