#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "pibinn/synthetic_problem.hpp"
#include "pibinn/train.hpp"

namespace pibinn::testing {

template <class T, class From>
Matrix<T> times(const Matrix<From>& from, double unit) {
    Matrix<T> to(from.rows(), from.cols());
    for (std::size_t i = 0; i < to.size(); ++i)
        to.data()[i] = static_cast<T>(from.data()[i] * unit);
    return to;
}

/// A user's problem with the unit of x and of A changed, in the precision T.
template <class T>
ArrayProblem arrays(const Structure& structure, double x_unit, double a_unit, ThreadPool& pool,
                    bool measured = false) {
    SyntheticSpec spec;
    spec.train = 240;
    spec.test = 1;
    spec.prior.density = 0.1;
    const Operator op = Operator::random(structure, OperatorEnsemble::gaussian, 9);
    const Problem drawn = make_synthetic(spec, op, 9, pool);
    ArrayProblem given;
    given.op = Operator::from_dense(times<T>(op.to_dense(), a_unit), structure);
    given.x = times<T>(drawn.train.x, x_unit);
    if (measured) given.y = times<T>(drawn.train.y, x_unit * a_unit);
    given.snr_db = measured ? std::nullopt : std::optional<SnrRange>({30, 30});
    return given;
}

inline TrainResult trained(const ArrayProblem& given, const NetworkSpec& spec,
                           std::string_view recipe, std::size_t epochs, ThreadPool& pool) {
    const Problem problem = Problem::from_arrays(given, pool);
    TrainJob job;
    job.problem = &problem;
    job.spec = network_for(recipe, spec);
    job.recipe = recipe_for(problem, job.spec, recipe);
    for (Stage& stage : job.recipe.stages) stage.epochs = epochs;
    return train(job, pool);
}

/// Ten epochs per stage of a small network.
inline TrainResult trained(const Problem& problem, ThreadPool& pool) {
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 3;
    job.recipe = recipe_for(problem, job.spec);
    for (Stage& stage : job.recipe.stages) stage.epochs = 10;
    return train(job, pool);
}

inline void expect_same_training(const TrainResult& usual, const TrainResult& other,
                                 const std::string& label) {
    ASSERT_EQ(usual.history.size(), other.history.size()) << label;
    for (std::size_t e = 0; e < usual.history.size(); ++e)
        ASSERT_EQ(usual.history[e].loss, other.history[e].loss) << label << " epoch " << e;
    EXPECT_NEAR(usual.test.nmse_db, other.test.nmse_db, 1e-3) << label;
}

}  // namespace pibinn::testing
