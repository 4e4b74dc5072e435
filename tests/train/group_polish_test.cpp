#include <gtest/gtest.h>

#include "pibinn/access_problem.hpp"
#include "pibinn/fourier_problem.hpp"
#include "pibinn/train.hpp"

// Whether trainings on complex signals end polished, which nobody asked for.

namespace pibinn {
namespace {

TrainResult trained(const Problem& problem, NetworkSpec spec, ThreadPool& pool) {
    spec.layers = 6;
    spec.weights = WeightKind::tied;
    spec.activation = Activation::piecewise;
    TrainJob job;
    job.problem = &problem;
    job.spec = spec;
    job.recipe = recipe_for(problem, spec);
    for (Stage& stage : job.recipe.stages) stage.epochs = 40;
    return train(job, pool);
}

FourierSpec spectra() {
    FourierSpec spec;
    spec.m = 24;
    spec.prior.n = 64;
    spec.prior.nonzeros = 3;
    spec.snr_db.reset();
    spec.train = 500;
    spec.test = 200;
    return spec;
}

NetworkSpec complex_groups() {
    NetworkSpec spec;
    spec.groups = Groups::complex;
    return spec;
}

TEST(TrainedGroups, ArePolishedWhereThereIsNoNoise) {
    ThreadPool pool(2);
    const Problem problem = make_fourier(spectra(), 1, pool);
    const TrainResult result = trained(problem, complex_groups(), pool);
    EXPECT_EQ(result.model.spec.polish, 6u);
    ASSERT_EQ(result.model.cut.size(), 1u);
    EXPECT_GT(result.test.exact_share, 0.5);
    Model alone = result.model;
    alone.spec.polish = 0;
    alone.cut.clear();
    const Batch x = recover_coefficients(alone, problem.test.y, pool);
    EXPECT_GT(measure(problem.test.x, x).energy_nmse_db, result.test.energy_nmse_db + 1);
}

TEST(TrainedGroups, AreNotPolishedWhereNoiseRules) {
    ThreadPool pool(2);
    FourierSpec noisy = spectra();
    noisy.snr_db = SnrRange{10, 10};
    EXPECT_EQ(trained(make_fourier(noisy, 1, pool), complex_groups(), pool).model.spec.polish, 0u);
}

}  // namespace
}  // namespace pibinn
