#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/cases.hpp"
#include "model/model_units.hpp"
#include "pibinn/error.hpp"
#include "pibinn/real_problem.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/train.hpp"

namespace pibinn {
namespace {

/// A user's problem with the unit of x and of A changed.
ArrayProblem arrays(const Structure& structure, double x_unit, double a_unit, ThreadPool& pool,
                    bool measured = false) {
    SyntheticSpec spec;
    spec.train = 240;
    spec.test = 1;
    spec.prior.density = 0.1;
    const Operator op = Operator::random(structure, OperatorEnsemble::gaussian, 9);
    const Problem drawn = make_synthetic(spec, op, 9, pool);
    AlignedBuffer<float> values(op.values().begin(), op.values().end());
    for (float& v : values) v = static_cast<float>(v * a_unit);
    ArrayProblem given;
    given.op = Operator(structure, std::move(values));
    given.x = drawn.train.x;
    given.y = measured ? drawn.train.y : Batch{};
    for (float& v : given.x.values()) v = static_cast<float>(v * x_unit);
    for (float& v : given.y.values()) v = static_cast<float>(v * x_unit * a_unit);
    given.snr_db = measured ? std::nullopt : std::optional<SnrRange>({30, 30});
    return given;
}

TrainResult trained(const ArrayProblem& given, const NetworkSpec& spec, std::string_view recipe,
                    std::size_t epochs, ThreadPool& pool) {
    const Problem problem = Problem::from_arrays(given, pool);
    TrainJob job;
    job.problem = &problem;
    job.spec = network_for(recipe, spec);
    job.recipe = recipe_for(problem, job.spec, recipe);
    for (Stage& stage : job.recipe.stages) stage.epochs = epochs;
    return train(job, pool);
}

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
                const TrainResult usual = trained(arrays(dense, 1, 1, pool), spec, recipe, 3, pool);
                const TrainResult other =
                    trained(arrays(dense, x_unit, a_unit, pool), spec, recipe, 3, pool);
                const std::string label =
                    fmt::format("{} {} {} {}", label_of(spec), recipe, x_unit, a_unit);
                for (std::size_t e = 0; e < usual.history.size(); ++e)
                    ASSERT_EQ(usual.history[e].loss, other.history[e].loss) << label;
                EXPECT_NEAR(usual.test.nmse_db, other.test.nmse_db, 1e-3) << label;
            }
}

TEST(Units, AnyFactorGivesTheSameResultForEveryStructure) {
    ThreadPool pool(2);
    Stream stream(5, Purpose::tests);
    NetworkSpec spec;
    spec.layers = 3;
    for (const auto kind : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                            StructureKind::mask})
        for (const bool measured : {false, true}) {
            const Structure structure = testing::some_structure(kind);
            const double usual =
                trained(arrays(structure, 1, 1, pool, measured), spec, "default", 20, pool)
                    .test.nmse_db;
            for (int draw = 0; draw < 3; ++draw) {
                const double x_unit = std::pow(10.0, 18 * stream.uniform() - 9);
                const double a_unit = std::pow(10.0, 24 * stream.uniform() - 12);
                const TrainResult other = trained(arrays(structure, x_unit, a_unit, pool, measured),
                                                  spec, "default", 20, pool);
                EXPECT_NEAR(other.test.nmse_db, usual, 0.1)
                    << to_string(kind) << ' ' << x_unit << ' ' << a_unit;
            }
        }
}

double trained_nmse(const Problem& problem, ThreadPool& pool) {
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 3;
    job.recipe = recipe_for(problem, job.spec);
    for (Stage& stage : job.recipe.stages) stage.epochs = 10;
    return train(job, pool).test.nmse_db;
}

TEST(Units, DrawnSignalsMayMeetAnOperatorOfAnyUnit) {
    ThreadPool pool(2);
    SyntheticSpec spec;
    spec.train = 200;
    spec.test = 50;
    spec.snr_db = SnrRange{20, 20};
    const auto nmse = [&](double unit) {
        const ArrayProblem given = arrays(Structure::dense(12, 20), 1, unit, pool);
        return trained_nmse(make_synthetic(spec, given.op, 4, pool), pool);
    };
    const double usual = nmse(1);
    for (const double unit : {1e-9, 37.0, 1e9}) EXPECT_NEAR(nmse(unit), usual, 0.1) << unit;
}

TEST(Units, RealSignalsThatAreNotNormalisedMayBeOfAnyUnit) {
    ThreadPool pool(2);
    const auto nmse = [&](double unit) {
        RealSignals signals;
        signals.train = Batch(200, 16);
        signals.test = Batch(50, 16);
        Stream stream(8, Purpose::tests);
        for (Batch* set : {&signals.train, &signals.test})
            for (std::size_t i = 0; i < set->rows(); ++i)
                for (std::size_t j = 0; j < 16; ++j)
                    (*set)(i, j) =
                        static_cast<float>(unit * stream.normal() / (1 + static_cast<double>(j)));
        signals.noise_std = 0.05 * unit;
        signals.where = "test";
        SensingSpec sensing;
        sensing.m = 8;
        return trained_nmse(make_real(signals, SignalDomain{}, sensing, 2, pool), pool);
    };
    const double usual = nmse(1);
    EXPECT_LT(usual, -1);
    for (const double unit : {1e-9, 255.0, 1e9}) EXPECT_NEAR(nmse(unit), usual, 0.1) << unit;
}

TEST(Units, TheModelRecoversInTheUnitsOfTheUser) {
    ThreadPool pool(2);
    const Structure dense = Structure::dense(12, 20);
    for (const NetworkSpec& spec : networks()) {
        const ArrayProblem given = arrays(dense, 3e-7, 4e5, pool);
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
        ArrayProblem given = arrays(Structure::dense(25, 50), x_unit, a_unit, pool);
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
    ArrayProblem given = arrays(Structure::dense(6, 10), 1, 1, pool);
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
    result.train.nmse_db = result.test.nmse_db = 3;
    const auto worse = training_warnings(problem, result);
    ASSERT_EQ(worse.size(), 2u);
    EXPECT_NE(worse[1].find("worse than the zero estimate"), std::string::npos);
}

}  // namespace
}  // namespace pibinn
