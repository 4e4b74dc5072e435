// A calibration of a trained network comes true on signals that it has not seen.
#include "pibinn/calibrate.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/recovery_check.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "pibinn/train.hpp"

namespace pibinn::study {
namespace {

/// A small one-bit network of the accelerated update, trained for a second, and many test signals.
struct Trained {
    Problem problem;
    Model model;
};

const Trained& trained() {
    static const Trained once = [] {
        ThreadPool pool(2);
        SyntheticSpec spec;
        spec.m = 20;
        spec.n = 40;
        spec.prior.density = 0.08;
        spec.train = 500;
        spec.test = 24000;
        spec.noise_std = 0.01;
        Trained t{make_synthetic(spec, 3, pool), {}};
        TrainJob job;
        job.problem = &t.problem;
        job.spec.layers = 4;
        job.recipe = recipe_for(t.problem, job.spec, "default");
        for (Stage& stage : job.recipe.stages) stage.epochs = 40;
        t.model = train(job, pool).model;
        return t;
    }();
    return once;
}

Batch rows_of(const Batch& from, std::size_t begin, std::size_t count) {
    Batch to(count, from.cols());
    std::copy_n(from.data() + begin * from.cols(), to.size(), to.data());
    return to;
}

CalibrationInput pairs(std::size_t begin, std::size_t count) {
    CalibrationInput input;
    input.signals = rows_of(trained().problem.test.x, begin, count);
    input.measurements = rows_of(trained().problem.test.y, begin, count);
    return input;
}

std::string refusal(const CalibrationInput& input, const Model& model) {
    try {
        calibrate(model, input, {0.9, 0.9});
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(Calibrate, ComesTrueOnFreshSignals) {
    ThreadPool pool(2);
    const CalibrationInput fresh = pairs(12000, 12000);
    const Batch found = Recoverer(trained().model)(fresh.measurements, pool);
    std::vector<double> errors;
    for (std::size_t i = 0; i < found.rows(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < found.cols(); ++j)
            sum += std::pow(double{found(i, j)} - fresh.signals(i, j), 2);
        errors.push_back(std::sqrt(sum));
    }
    // 200 sets of 60 signals each. Of the sets, one in ten at most may promise too much; the
    // share of the fresh signals that is covered is itself known to 0.3 %.
    std::size_t failed = 0;
    for (std::size_t set = 0; set < 200; ++set) {
        const Calibration c = calibrate(trained().model, pairs(60 * set, 60), {0.9, 0.9}, pool);
        const double limit = c.main().error->value;
        const auto covered = std::count_if(errors.begin(), errors.end(),
                                           [&](double error) { return error <= limit; });
        failed += static_cast<double>(covered) / static_cast<double>(errors.size()) < 0.9;
    }
    EXPECT_LE(failed, 20 + 3 * std::sqrt(200 * 0.1 * 0.9));
    EXPECT_GE(failed, 1U);  // nor is it more careful than it must be
}

TEST(Calibrate, MeasuresWithTheNoiseOfTraining) {
    CalibrationInput input = pairs(0, 500);
    const double given = calibrate(trained().model, input, {0.9, 0.9}).median_error;
    input.measurements = {};
    const Calibration made = calibrate(trained().model, input, {0.9, 0.9});
    EXPECT_EQ(made.source.noise, "with noise of deviation 0.01 as in training");
    EXPECT_NEAR(made.median_error, given, 0.1 * given);
    input.seed = 2;
    EXPECT_NE(calibrate(trained().model, input, {0.9, 0.9}).median_error, made.median_error);
    input.noise_std = 0;
    const Calibration quiet = calibrate(trained().model, input, {0.9, 0.9});
    EXPECT_EQ(quiet.source.noise, "without noise");
    input.noise_std.reset();
    input.snr_db = SnrRange{0, 0};
    const Calibration loud = calibrate(trained().model, input, {0.9, 0.9});
    EXPECT_EQ(loud.source.noise, "with noise at 0 dB");
    EXPECT_GT(loud.median_error, 2 * quiet.median_error);
}

TEST(Calibrate, RefusesSignalsOfTheTraining) {
    CalibrationInput input;
    input.signals = trained().problem.train.x;
    EXPECT_NE(refusal(input, trained().model).find("was trained on"), std::string::npos);
    EXPECT_EQ(refusal(pairs(0, 100), trained().model), "");
}

TEST(Calibrate, RefusesWhatDoesNotFit) {
    const Model& model = trained().model;
    CalibrationInput input = pairs(0, 100);
    input.measurements = rows_of(input.measurements, 0, 99);
    EXPECT_NE(refusal(input, model).find("100 signals but 99 measurements"), std::string::npos);
    input = pairs(0, 100);
    input.signals(7, 1) = std::nanf("");
    EXPECT_NE(refusal(input, model).find("signal 7 holds nan"), std::string::npos);
    input = pairs(0, 100);
    input.noise_std = 0.1;
    EXPECT_NE(refusal(input, model).find("measurements that are given"), std::string::npos);
    input.measurements = {};
    input.snr_db = SnrRange{20, 20};
    EXPECT_NE(refusal(input, model).find("both given"), std::string::npos);
    EXPECT_NE(refusal({}, model).find("no held-out signals"), std::string::npos);
    Model own = model;
    own.metadata["pibinn.noise"] = "given";
    input = pairs(0, 100);
    EXPECT_EQ(refusal(input, own), "");
    input.measurements = {};
    EXPECT_NE(refusal(input, own).find("nobody can draw"), std::string::npos);
    input.noise_std = 0.1;
    EXPECT_EQ(refusal(input, own), "");
}

TEST(Calibrate, LetsACheckPassItsOwnKindAndNotAnother) {
    ThreadPool pool(2);
    Model model = trained().model;
    attach_calibration(model, calibrate(model, pairs(0, 2000), {}, pool));
    const Recoverer recoverer(model);
    RecoveryCheck same(model), denser(model);
    const CalibrationInput fresh = pairs(4000, 4000);
    same.add(fresh.measurements, recoverer.coefficients(fresh.measurements, pool), pool);
    EXPECT_FALSE(same.another_kind()) << same.text();
    // Four times as many entries as the network was trained for.
    SyntheticSpec spec;
    spec.prior.density = 0.32;
    spec.test = 500;
    const Problem other = make_synthetic(spec, model.op, 5, pool);
    denser.add(other.test.y, recoverer.coefficients(other.test.y, pool), pool);
    EXPECT_TRUE(denser.another_kind()) << denser.text();
    EXPECT_GT(denser.outside(), 50U);  // a residual alone does not tell every one of them
}

}  // namespace
}  // namespace pibinn::study
