#include "train/unit_cases.hpp"

// Networks and losses whose formulas have more to scale than a threshold.

namespace pibinn {
namespace {

using testing::arrays;
using testing::expect_same_training;
using testing::trained;

struct UnitPair {
    double x, a;
};

/// Any of those that are promised.
UnitPair any_units(Stream& stream) {
    const double x = 18 * stream.uniform() - 9, a = 24 * stream.uniform() - 12;
    return {std::pow(10.0, x), std::pow(10.0, a)};
}

std::vector<NetworkSpec> networks_of_sites() {
    NetworkSpec usual;
    usual.layers = 3;
    std::vector<NetworkSpec> specs;
    for (const Activation activation : {Activation::hard, Activation::wiener})
        for (const WeightKind weights : {WeightKind::one_bit, WeightKind::real, WeightKind::tied}) {
            NetworkSpec spec = usual;
            spec.activation = activation;
            spec.weights = weights;
            specs.push_back(spec);
        }
    for (const Activation activation :
         {Activation::soft, Activation::hard, Activation::piecewise, Activation::wiener}) {
        NetworkSpec spec = usual;
        spec.activation = activation;
        spec.neighbours = 1;
        specs.push_back(spec);
    }
    return specs;
}

std::string label_of(const NetworkSpec& spec, const UnitPair& units) {
    return fmt::format("{} {} groups {} neighbours {}: {} {}", to_string(spec.weights),
                       to_string(spec.activation), to_string(spec.groups), spec.neighbours, units.x,
                       units.a);
}

TEST(Units, AnyFactorChangesNothingForNeighboursHardThresholdsAndGains) {
    ThreadPool pool(2);
    Stream stream(7, Purpose::tests);
    const Structure dense = Structure::dense(12, 20);
    const ArrayProblem given = arrays<double>(dense, 1, 1, pool);
    for (const NetworkSpec& spec : networks_of_sites()) {
        const UnitPair units = any_units(stream);
        expect_same_training(
            trained(given, spec, "default", 4, pool),
            trained(arrays<double>(dense, units.x, units.a, pool), spec, "default", 4, pool),
            label_of(spec, units));
    }
}

TEST(Units, AnyFactorChangesNothingForGroupsOfVectors) {
    ThreadPool pool(2);
    Stream stream(8, Purpose::tests);
    const Structure two = Structure::repeated(8, 14, 2);
    for (const Activation activation :
         {Activation::soft, Activation::hard, Activation::piecewise, Activation::wiener}) {
        NetworkSpec spec;
        spec.layers = 3;
        spec.activation = activation;
        spec.groups = Groups::rows;
        const auto of = [&](const UnitPair& units) {
            ArrayProblem given = arrays<double>(two, units.x, units.a, pool);
            given.vectors = 2;
            return trained(given, spec, "default", 4, pool);
        };
        const UnitPair units = any_units(stream);
        expect_same_training(of({1, 1}), of(units), label_of(spec, units));
    }
}

TEST(Units, AnyFactorChangesNothingForAnyLoss) {
    ThreadPool pool(2);
    Stream stream(9, Purpose::tests);
    const Structure dense = Structure::dense(12, 20);
    for (const LossKind loss : {LossKind::squared, LossKind::norm, LossKind::nmse, LossKind::energy,
                                LossKind::log, LossKind::log_norm}) {
        const auto of = [&](const UnitPair& units) {
            const Problem problem =
                Problem::from_arrays(arrays<double>(dense, units.x, units.a, pool), pool);
            TrainJob job;
            job.problem = &problem;
            job.spec.layers = 3;
            job.recipe = recipe_for(problem, job.spec);
            job.recipe.loss = loss;
            for (Stage& stage : job.recipe.stages) stage.epochs = 4;
            return train(job, pool);
        };
        const UnitPair units = any_units(stream);
        expect_same_training(of({1, 1}), of(units), std::string(to_string(loss)));
    }
}

}  // namespace
}  // namespace pibinn
