#include <filesystem>

#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "pibinn/error.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "pibinn/train.hpp"
#include "theory/cases.hpp"

namespace pibinn::testing {

namespace {

/// A small training that must end in a guarantee.
struct Promise {
    WeightKind weights = WeightKind::one_bit;
    Activation activation = Activation::soft;
    SignalClass signals;
    OperatorEnsemble ensemble = OperatorEnsemble::gaussian;
    std::size_t m = 40, n = 50, layers = 5;
    std::size_t repeat = 1;
    bool momentum = false;
};

NetworkSpec spec_of(const Promise& promise) {
    NetworkSpec spec;
    spec.layers = promise.layers;
    spec.weights = promise.weights;
    spec.activation = promise.activation;
    spec = network_for("guaranteed", spec);
    spec.update.momentum = promise.momentum;
    return spec;
}

/// With a folder: stopped after the first epoch, and resumed.
TrainResult keep(const Promise& promise, std::size_t threads = 1,
                 const std::filesystem::path& folder = {}) {
    const std::uint64_t seed = 1;
    SyntheticSpec problem;
    problem.m = promise.m;
    problem.n = promise.n;
    problem.ensemble = promise.ensemble;
    problem.train = 40;
    problem.test = 10;
    if (promise.repeat > 1) {
        problem.structure = StructureKind::repeated;
        problem.repeat = promise.repeat;
    }
    ThreadPool pool(threads);
    const Problem made = make_synthetic(problem, seed, pool);
    TrainJob job;
    job.problem = &made;
    job.spec = spec_of(promise);
    job.recipe = recipe_for(made, job.spec, "guaranteed");
    job.recipe.guarantee = promise.signals;
    job.recipe.stages.front().epochs = 2;
    if (folder.empty()) return train(job, pool);
    job.folder = folder;
    EXPECT_FALSE(train(job, pool, [](const Progress&) { return false; }).finished);
    job.resume = true;
    return train(job, pool);
}

std::vector<Promise> some_promises() {
    const SignalClass fixed{.supports = {{3, 11, 17, 42}}};
    const SignalClass several{.supports = {{3, 11}, {17, 42, 5}, {0, 1}}, .norm = 2};
    SignalClass noisy = fixed;
    noisy.noise = 0.02;
    const SignalClass one{.size = 1, .norm = 3}, two{.size = 2};
    std::vector<Promise> promises;
    for (const SignalClass& signals : {fixed, several, noisy})
        for (const Activation activation :
             {Activation::soft, Activation::hard, Activation::piecewise})
            promises.push_back({WeightKind::one_bit, activation, signals});
    for (const WeightKind kind : {WeightKind::one_bit_layer, WeightKind::one_bit_channel,
                                  WeightKind::ternary, WeightKind::real}) {
        promises.push_back({kind, Activation::soft, noisy});
        promises.push_back({kind, Activation::soft, one});
    }
    promises.push_back({WeightKind::one_bit, Activation::hard, one});
    promises.push_back({WeightKind::real, Activation::soft, two});
    promises.push_back({WeightKind::real, Activation::piecewise, two});
    Promise tied{WeightKind::tied, Activation::soft, one, OperatorEnsemble::rademacher, 64, 40};
    promises.push_back(tied);
    Promise blocks{WeightKind::one_bit, Activation::soft, one};
    blocks.repeat = 3;
    promises.push_back(blocks);
    Promise momentum{WeightKind::one_bit, Activation::soft, noisy};
    momentum.momentum = true;
    promises.push_back(momentum);
    return promises;
}

std::string name_of(const Promise& p) {
    return fmt::format("{} {} {} noise {}", to_string(p.weights), to_string(p.activation),
                       in_words(p.signals), p.signals.noise);
}

/// Signals of the class as long as it allows.
Batch border_signals(const SignalClass& signals, const Model& model) {
    const double B = signals.norm;
    Batch x = signals.size > 0 ? signals_of_size(model, signals.size, 80, B, 9)
                               : signals_on_supports(model, signals.supports, 80, B, 9);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        double square = 0;
        for (const float v : x.row(i)) square += double{v} * v;
        for (float& v : x.row(i)) v *= static_cast<float>(B * (1 - 1e-6) / std::sqrt(square));
    }
    return x;
}

/// The largest error of every layer of the float32 network, block by block.
std::vector<double> float32_errors(const Model& model, const Batch& x, ThreadPool& pool) {
    std::vector<Batch> layers;
    recover_coefficients(model, model.op.apply(x, pool), pool, &layers);
    std::vector<double> errors;
    for (const Batch& out : layers) {
        double most = 0;
        const std::size_t n = x.cols() / model.op.structure().repeat();
        for (std::size_t i = 0; i < x.rows(); ++i)
            for (std::size_t u = 0; u < x.cols(); u += n) {
                double square = 0;
                for (std::size_t j = u; j < u + n; ++j)
                    square += std::pow(double{out(i, j)} - x(i, j), 2);
                most = std::max(most, std::sqrt(square));
            }
        errors.push_back(most);
    }
    return errors;
}

}  // namespace

// The one property that counts: whatever signal and noise of the class a search comes up with, no
// layer is over its bound and no entry outside the support lights up.
TEST(Guarantee, StandsAgainstAnAdversary) {
    ThreadPool pool(1);
    for (const Promise& promise : some_promises()) {
        SCOPED_TRACE(name_of(promise));
        const TrainResult result = keep(promise);
        ASSERT_TRUE(result.guarantee);
        EXPECT_TRUE(result.guarantee->proven);
        CertificateOptions options;
        options.attack = 8;
        // The model itself knows its class.
        const Certificate c = certify(result.model, {.samples = 60}, options, pool);
        EXPECT_EQ(c.verdict, Verdict::guaranteed) << c.why;
        EXPECT_TRUE(c.source.of_model);
        EXPECT_FALSE(c.attack->leaked);
        EXPECT_EQ(exceeds(c.attack->error, c.bound.error), std::nullopt);
        EXPECT_EQ(exceeds(errors_of(c), c.bound.error), std::nullopt);
        // Rounding is part of the promise.
        const Batch x = border_signals(result.guarantee->signals, result.model);
        EXPECT_EQ(exceeds(float32_errors(result.model, x, pool), c.bound.error), std::nullopt);
        EXPECT_NEAR(c.bound.error.back(), result.guarantee->bound,
                    1e-6 * result.guarantee->bound + 1e-12);
    }
}

// The search is worth something: it must find much of what the bound allows.
TEST(Guarantee, TheAdversaryComesNearTheBound) {
    ThreadPool pool(1);
    Promise promise{WeightKind::one_bit, Activation::soft, {.size = 1}};
    const TrainResult result = keep(promise);
    CertificateOptions options;
    options.attack = 40;
    const Certificate c = certify(result.model, {}, options, pool);
    EXPECT_GT(c.attack->error.back(), 0.3 * c.bound.error.back());
    EXPECT_GT(c.attack->error.back(), c.measured.back().median_error);
}

TEST(Guarantee, IsLostByAThresholdThatIsLower) {
    ThreadPool pool(1);
    for (const Promise& promise : some_promises()) {
        SCOPED_TRACE(name_of(promise));
        Model model = keep(promise).model;
        const std::size_t pieces = model.spec.thresholds_per_layer();
        const Certificate before = certify(model, {.samples = 20}, {}, pool);
        // The first layer's threshold is exactly what the class needs, unless it needs none.
        if (before.bound.theta_needed[0] < 1e-9) continue;
        for (std::size_t j = 0; j < pieces; ++j) model.theta[j] *= 0.99F;
        const Certificate after = certify(model, {.samples = 20}, {}, pool);
        EXPECT_FALSE(after.bound.keeps_support());
        EXPECT_NE(after.verdict, Verdict::guaranteed);
    }
}

TEST(Guarantee, IsLostByWeightsThatAreNotThoseOfTheProof) {
    ThreadPool pool(1);
    Promise promise{WeightKind::one_bit, Activation::soft, {.supports = {{3, 11, 17, 42}}}};
    Model model = keep(promise).model;
    // Column 7 becomes the signs of column 3: an entry outside the support that answers to it.
    const std::size_t m = promise.m;
    for (std::size_t i = 0; i < m; ++i) model.weights[1][7 * m + i] = model.weights[1][3 * m + i];
    const Certificate c = certify(model, {}, {}, pool);
    EXPECT_EQ(c.bound.first_leak, 2U);
    EXPECT_NE(c.verdict, Verdict::guaranteed);
    EXPECT_NE(c.statement().find("Nothing is guaranteed"), std::string::npos);
}

// Signals at the border of the class on every pair there is, with noise at its border.
TEST(Guarantee, OfASizeHoldsOnEverySupport) {
    ThreadPool pool(1);
    SignalClass signals{.size = 2, .norm = 1, .noise = 0.01};
    const TrainResult result = keep({WeightKind::real, Activation::soft, signals});
    const Certificate c = certify(result.model, {}, {}, pool);
    ASSERT_EQ(c.verdict, Verdict::guaranteed) << c.why;
    const BlockNetwork network = block_networks(result.model).front();
    Stream stream(5, Purpose::tests);
    for (std::uint32_t i = 0; i < 50; ++i)
        for (std::uint32_t j = i + 1; j < 50; j += 3) {
            Rows x = Rows::Zero(2, 50);
            x(0, i) = x(1, i) = std::sqrt(0.5);
            x(0, j) = std::sqrt(0.5);
            x(1, j) = -std::sqrt(0.5);
            Rows noise(2, 40);
            for (Eigen::Index l = 0; l < noise.size(); ++l) noise.data()[l] = stream.normal();
            noise = noise.rowwise().normalized() * signals.noise;
            const auto layers = run_layers(network, x * network.A.transpose() + noise);
            const std::vector<Rows> truth(layers.size(), x);
            ASSERT_EQ(exceeds(distances(layers, truth), c.bound.error), std::nullopt) << i << j;
        }
}

TEST(Guarantee, IsTheSameForAnyNumberOfThreadsAndWhenResumed) {
    const Promise promise{WeightKind::one_bit, Activation::soft, {.supports = {{1, 2, 8}}}};
    const std::string hash = weights_hash(keep(promise, 1).model);
    EXPECT_EQ(hash, weights_hash(keep(promise, 3).model));
    const auto folder = std::filesystem::path(::testing::TempDir()) / "resumed_guarantee";
    std::filesystem::create_directories(folder);
    EXPECT_EQ(hash, weights_hash(keep(promise, 1, folder).model));
    std::filesystem::remove_all(folder);
}

TEST(Guarantee, WithoutAClassIsForTheLargestSizeThatSaysSomething) {
    ThreadPool pool(1);
    const TrainResult result = keep({WeightKind::real, Activation::soft, {}});
    ASSERT_TRUE(result.guarantee && result.guarantee->proven);
    EXPECT_GE(result.guarantee->signals.size, 2U);
    EXPECT_LT(result.guarantee->bound, 0.3163 * result.guarantee->signals.norm);
    // Most training signals have more entries than that, and the user hears of it.
    EXPECT_NE(fmt::format("{}", fmt::join(result.warnings, " ")).find("outside of the class"),
              std::string::npos);
}

TEST(Guarantee, RefusesWhatCannotBeHeld) {
    const auto refused = [](SignalClass signals, const std::string& what,
                            WeightKind weights = WeightKind::one_bit) {
        try {
            keep({weights, Activation::soft, std::move(signals)});
            ADD_FAILURE() << "not refused: " << what;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::usage);
            EXPECT_NE((error.message() + error.hint()).find(what), std::string::npos)
                << error.message() << "; " << error.hint();
        }
    };
    refused({.supports = {{}}}, "empty support");
    refused({.supports = {{1, 1}}}, "named twice");
    refused({.supports = {{1, 50}}}, "not below n = 50");
    refused({.supports = {{1}}, .size = 2}, "both supports and a size");
    refused({.size = 41}, "more than the 40 entries");
    refused({.size = 41}, "the largest SignalClass::size that works here is", WeightKind::real);
    refused({.size = 9}, "the largest SignalClass::size that works here is", WeightKind::real);
    refused({.size = 1, .norm = -1}, "norm -1");
    refused({.size = 1, .noise = -0.5}, "noise -0.5");
    refused({.size = 1, .noise = std::nan("")}, "noise nan");
    // Noise as large as the signals leaves nothing to prove.
    refused({.size = 1, .norm = 1, .noise = 5}, "noise 5");
    std::vector<std::uint32_t> many(41);
    for (std::uint32_t i = 0; i < 41; ++i) many[i] = i;
    refused({.supports = {many}}, "more than its measurements");
}

TEST(Guarantee, SaysSoInOneSentence) {
    ThreadPool pool(1);
    SignalClass signals{.size = 1, .norm = 2};
    const Model model = keep({WeightKind::one_bit, Activation::soft, signals}).model;
    const Certificate c = certify(model, {}, {}, pool);
    const std::string text = c.statement();
    EXPECT_TRUE(
        text.starts_with("For every signal with at most 1 nonzero and norm up to 2, the "
                         "error after layer 5 is below "))
        << text;
    // The number said is no less than the one proven.
    EXPECT_GT(std::stod(text.substr(text.rfind(' '))), c.bound.error.back());
    EXPECT_TRUE(c.text().starts_with("For every signal"));
    EXPECT_NE(c.json().find("\"statement\": \"For every signal"), std::string::npos);
}

}  // namespace pibinn::testing
