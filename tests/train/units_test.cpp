#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "model/model_units.hpp"
#include "pibinn/error.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/train.hpp"
#include "train/unit_cases.hpp"

namespace pibinn {
namespace {

using testing::arrays;
using testing::expect_same_training;
using testing::times;
using testing::trained;

std::vector<NetworkSpec> networks() {
    std::vector<NetworkSpec> specs;
    for (const WeightKind kind : weight_kinds())
        for (const Update& update : {Update::plain(), Update::accelerated()}) {
            NetworkSpec spec;
            spec.layers = 3;
            spec.weights = kind;
            spec.update = update;
            spec.update.step |= spec.tied();
            specs.push_back(spec);
        }
    for (const WeightKind kind : {WeightKind::tied, WeightKind::one_bit}) {
        NetworkSpec shrink;
        shrink.layers = 3;
        shrink.weights = kind;
        shrink.activation = Activation::piecewise;
        shrink.polish = 2;
        specs.push_back(shrink);
    }
    for (const Activation activation : {Activation::soft, Activation::relu}) {
        NetworkSpec fcn;
        fcn.layers = 3;
        fcn.architecture = Architecture::fcn;
        fcn.update = Update::plain();
        fcn.activation = activation;
        specs.push_back(fcn);
    }
    return specs;
}

std::string label_of(const NetworkSpec& spec) {
    return fmt::format("{} {} {} {}", to_string(spec.architecture), to_string(spec.weights),
                       to_string(spec.update), to_string(spec.activation));
}

TEST(Units, APowerOfTwoChangesNothingButTheUnit) {
    ThreadPool pool(2);
    for (const NetworkSpec& spec : networks())
        for (const char* recipe : {"default", "paper"})
            for (const auto& [x_unit, a_unit] : {std::pair{std::ldexp(1.0, -30), 1.0},
                                                 {std::ldexp(1.0, 30), 1.0},
                                                 {1.0, std::ldexp(1.0, 20)},
                                                 {std::ldexp(1.0, 12), std::ldexp(1.0, -25)}}) {
                const Structure dense = Structure::dense(12, 20);
                const TrainResult usual =
                    trained(arrays<float>(dense, 1, 1, pool), spec, recipe, 3, pool);
                const TrainResult other =
                    trained(arrays<float>(dense, x_unit, a_unit, pool), spec, recipe, 3, pool);
                const std::string label =
                    fmt::format("{} {} {} {}", label_of(spec), recipe, x_unit, a_unit);
                for (std::size_t e = 0; e < usual.history.size(); ++e)
                    ASSERT_EQ(usual.history[e].loss, other.history[e].loss) << label;
                EXPECT_NEAR(usual.test.nmse_db, other.test.nmse_db, 1e-3) << label;
            }
}

// From 1e-9 to 1e9 for signals, wider for operators.
double any_x_unit(Stream& stream) { return std::pow(10.0, 18 * stream.uniform() - 9); }
double any_a_unit(Stream& stream) { return std::pow(10.0, 24 * stream.uniform() - 12); }

TEST(Units, AnyFactorOfFloat64ChangesNothingButTheUnit) {
    ThreadPool pool(2);
    Stream stream(5, Purpose::tests);
    NetworkSpec spec;
    spec.layers = 3;
    for (const auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                            StructureKind::mask})
        for (const bool measured : {false, true}) {
            const Structure structure = testing::some_structure(kind);
            const TrainResult usual =
                trained(arrays<double>(structure, 1, 1, pool, measured), spec, "default", 20, pool);
            for (int draw = 0; draw < 3; ++draw) {
                const double x_unit = any_x_unit(stream), a_unit = any_a_unit(stream);
                expect_same_training(
                    usual,
                    trained(arrays<double>(structure, x_unit, a_unit, pool, measured), spec,
                            "default", 20, pool),
                    fmt::format("{} {} {} {}", to_string(kind), measured, x_unit, a_unit));
            }
        }
}

TEST(Units, AnyFactorOfFloat64ChangesNothingForAnyNetwork) {
    ThreadPool pool(2);
    Stream stream(6, Purpose::tests);
    const Structure dense = Structure::dense(12, 20);
    for (const NetworkSpec& spec : networks())
        for (const char* recipe : {"default", "paper"}) {
            const double x_unit = any_x_unit(stream), a_unit = any_a_unit(stream);
            // Noise is in the unit of the measurements.
            const auto noisy = [&](double x, double a) {
                ArrayProblem given = arrays<double>(dense, x, a, pool);
                given.snr_db.reset();
                given.noise_std = 0.1 * x * a;
                return trained(given, spec, recipe, 3, pool);
            };
            expect_same_training(
                noisy(1, 1), noisy(x_unit, a_unit),
                fmt::format("{} {} {} {}", label_of(spec), recipe, x_unit, a_unit));
        }
}

// What float32 rounds differently, training amplifies, so that only a short one stays near.
TEST(Units, AnyFactorOfFloat32IsOneRoundingOfEveryNumber) {
    ThreadPool pool(2);
    Stream stream(5, Purpose::tests);
    NetworkSpec spec;
    spec.layers = 3;
    const Structure dense = Structure::dense(12, 20);
    const double usual =
        trained(arrays<float>(dense, 1, 1, pool), spec, "default", 20, pool).test.nmse_db;
    for (int draw = 0; draw < 3; ++draw) {
        const double x_unit = any_x_unit(stream), a_unit = any_a_unit(stream);
        const TrainResult other =
            trained(arrays<float>(dense, x_unit, a_unit, pool), spec, "default", 20, pool);
        EXPECT_NEAR(other.test.nmse_db, usual, 0.1) << x_unit << ' ' << a_unit;
    }
}

TEST(Units, AnEntryAtTheLimitOfBeingPresentIsSoInEveryUnit) {
    // 1 is a hundredth of 100, which rounding makes more or less of it in other units.
    Matrix<double> x(40, 8);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        x(i, i % 8) = 100;
        x(i, (i + 1) % 8) = 1;
    }
    const double usual = signal_size(x, 40);
    for (const double unit : {1e-9, 0.3, 0.7, 1.1, 3.3, 7.7e8})
        EXPECT_NEAR(signal_size(times<double>(x, unit), 40) / (unit * usual), 1, 1e-14) << unit;
}

TEST(Units, AProblemThatWasChangedIsTrainedAsItIs) {
    ThreadPool pool(2);
    const ArrayProblem given = arrays<double>(Structure::dense(12, 20), 7, 30, pool);
    Problem problem = Problem::from_arrays(given, pool);
    const TrainResult usual = trained(problem, pool);
    EXPECT_EQ(normalised(problem).problem, problem.normalised->problem);
    problem.normalised.reset();
    const TrainResult rounded = trained(problem, pool);
    EXPECT_NEAR(usual.test.nmse_db, rounded.test.nmse_db, 0.1);
    problem = Problem::from_arrays(given, pool);
    for (DataSet* set : {&problem.train, &problem.test})
        for (float& v : set->y.values()) v = 0;
    EXPECT_NE(normalised(problem).problem, problem.normalised->problem);
    EXPECT_NEAR(trained(problem, pool).test.nmse_db, 0, 0.5);
}

TEST(Units, APlainProblemIsTrainedWithoutACopy) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.train = spec.test = 10;
    const Problem problem = make_synthetic(spec, 1, pool);
    EXPECT_EQ(normalised(problem).problem.get(), &problem);
}

TEST(Units, TheModelRecoversInTheUnitsOfTheUser) {
    ThreadPool pool(2);
    const Structure dense = Structure::dense(12, 20);
    for (const NetworkSpec& spec : networks()) {
        const ArrayProblem given = arrays<double>(dense, 3e-7, 4e5, pool);
        const TrainResult result = trained(given, spec, "default", 3, pool);
        const Problem problem = Problem::from_arrays(given, pool);
        EXPECT_EQ(result.model.op.values()[3], given.op.values()[3]);
        const Batch x = Recoverer(result.model)(problem.test.y, pool);
        EXPECT_NEAR(measure(problem.test.x, x).nmse_db, result.test.nmse_db, 0.01)
            << label_of(spec);
    }
}

TEST(Units, PolishGainsAsMuchWhateverTheUnits) {
    ThreadPool pool(2);
    NetworkSpec spec;
    spec.layers = 4;
    spec.weights = WeightKind::tied;
    spec.activation = Activation::piecewise;
    spec.polish = 6;
    const auto nmse = [&](double x_unit, double a_unit) {
        ArrayProblem given = arrays<float>(Structure::dense(25, 50), x_unit, a_unit, pool);
        given.snr_db.reset();
        const TrainResult result = trained(given, spec, "default", 20, pool);
        const Problem problem = Problem::from_arrays(given, pool);
        const Batch x = Recoverer(result.model)(problem.test.y, pool);
        EXPECT_NEAR(measure(problem.test.x, x).median_nmse_db, result.test.median_nmse_db, 1);
        return result.test.median_nmse_db;
    };
    const double usual = nmse(1, 1);
    EXPECT_LT(usual, -20);
    for (const auto& [x_unit, a_unit] : {std::pair{0x1p30, 0x1p17}, {0x1p-30, 0x1p-17}})
        EXPECT_NEAR(nmse(x_unit, a_unit), usual, 0.1) << x_unit << ' ' << a_unit;
}

TEST(Units, ADrawnProblemIsTrainedAsItIs) {
    ThreadPool pool(1);
    SyntheticSpec spec;
    spec.train = spec.test = 10;
    const Problem problem = make_synthetic(spec, 1, pool);
    EXPECT_TRUE(units_of(problem).plain());
    const Units own = units_of(make_synthetic(spec, problem.op, 1, pool));
    EXPECT_EQ(own.signal, 1);
    EXPECT_NEAR(own.column, 1, 0.05);
}

TEST(Train, NumbersThatAreNotFiniteAreNeverHandedOut) {
    ThreadPool pool(1);
    NetworkSpec spec;
    spec.layers = 2;
    ArrayProblem given = arrays<float>(Structure::dense(6, 10), 1, 1, pool);
    const Problem problem = Problem::from_arrays(given, pool);
    TrainJob job;
    job.problem = &problem;
    job.spec = spec;
    job.recipe = recipe_for(problem, spec);
    for (Stage& stage : job.recipe.stages) {
        stage.epochs = 2;
        stage.learning_rate = 1e38;
        stage.scalar_rate = 1;
        stage.fit_rate = false;
    }
    try {
        train(job, pool);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::failed) << error.message();
    }
    given.snr_db.reset();
    given.noise_std = 1e38;
    EXPECT_THROW(Problem::from_arrays(given, pool), Error);
}

TEST(Train, WarnsOfAGapAndOfAResultWorseThanZero) {
    Problem problem;
    problem.train.x = Batch(7, 3);
    problem.warnings = {"first"};
    TrainResult result;
    result.train.nmse_db = -20;
    result.test.nmse_db = -18.5;
    EXPECT_EQ(training_warnings(problem, result).size(), 1u);
    result.test.nmse_db = -17.5;
    const auto gap = training_warnings(problem, result);
    ASSERT_EQ(gap.size(), 2u);
    EXPECT_NE(gap[1].find("2.5 dB worse than training"), std::string::npos);
    // Signals that were never trained on cannot be known by heart.
    result.augment = Augment::fresh;
    EXPECT_EQ(training_warnings(problem, result).size(), 1u);
    result.train.nmse_db = result.test.nmse_db = 3;
    const auto worse = training_warnings(problem, result);
    ASSERT_EQ(worse.size(), 2u);
    EXPECT_NE(worse[1].find("worse than the zero estimate"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
