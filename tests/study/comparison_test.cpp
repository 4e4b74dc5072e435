#include "study/comparison.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pibinn/synthetic_problem.hpp"

namespace pibinn::study {
namespace {

Problem small_problem(double density, double noise_std, ThreadPool& pool) {
    SyntheticSpec spec;
    spec.m = 20;
    spec.n = 40;
    spec.prior.density = density;
    spec.train = 100;
    spec.test = 60;
    spec.noise_std = noise_std;
    return make_synthetic(spec, 3, pool);
}

/// Every second signal is a tenth as strong, with the same noise.
Problem half_faint_problem(ThreadPool& pool) {
    Problem problem = small_problem(0.05, 0.03, pool);
    for (DataSet* set : {&problem.train, &problem.test}) {
        for (std::size_t i = 0; i < set->x.rows(); i += 2)
            for (float& v : set->x.row(i)) v *= 0.1F;
        set->y = problem.op.apply(set->x, pool);
        add_noise(set->y, problem.noise_std, 4, Purpose::tests, pool);
    }
    return problem;
}

TEST(Comparison, StopsOmpForFaintSignalsAsForStrongOnes) {
    ThreadPool pool(1);
    const Problem problem = half_faint_problem(pool);
    Comparison comparison(problem, pool);
    comparison.add_omp();
    EXPECT_LT(comparison.rows().back().metrics.nmse_db, 0);
    EXPECT_LT(comparison.rows().back().metrics.median_nmse_db, -5);
}

TEST(Comparison, TriesOneLambdaForAllSignalsWhereThereIsNoise) {
    ThreadPool pool(1);
    const Problem problem = half_faint_problem(pool);
    Comparison comparison(problem, pool);
    comparison.add_lasso(LassoMethod::fista, 100);
    const ComparisonRow& chosen = comparison.rows().back();
    EXPECT_EQ(chosen.settings.find("of max"), std::string::npos) << chosen.settings;
    LassoOptions relative;
    relative.max_iterations = 100;
    relative.tolerance = 0;
    for (const double lambda : {0.003, 0.02, 0.07, 0.15}) {
        relative.lambda = lambda;
        const Batch x = solve_lasso(problem.op, problem.test.y, relative, pool).x;
        EXPECT_LT(chosen.metrics.nmse_db, measure(problem.test.x, x).nmse_db) << lambda;
    }
}

TEST(Comparison, AnOracleIsABoundWhereSignalsAreSparse) {
    ThreadPool pool(1);
    Problem problem = small_problem(0.1, 0.05, pool);
    Comparison comparison(problem, pool);
    comparison.add_omp();
    comparison.add_oracle();
    ASSERT_EQ(comparison.rows().size(), 2u);
    EXPECT_TRUE(comparison.rows()[1].bound);
    EXPECT_LT(comparison.rows()[1].metrics.energy_nmse_db,
              comparison.rows()[0].metrics.energy_nmse_db);
    const auto json = comparison.json();
    EXPECT_TRUE(json[1]["bound"]);
    EXPECT_FALSE(json[1].contains("latency_microseconds"));
    EXPECT_FALSE(json[0].contains("bound"));

    problem.sparse = false;
    Comparison dense(problem, pool);
    dense.add_oracle();
    EXPECT_TRUE(dense.rows().empty());
    const Problem full = small_problem(0.9, 0.05, pool);
    Comparison fuller(full, pool);
    fuller.add_oracle();
    EXPECT_TRUE(fuller.rows().empty()) << "more entries than measurements";
}

TEST(Comparison, ATrainedNetworkFollowsTheFloatOneItStartedFrom) {
    ThreadPool pool(1);
    const Problem problem = small_problem(0.1, 0, pool);
    NetworkSpec spec;
    spec.layers = 2;
    TrainResult result;
    result.model = untrained_model(spec, problem.op, 0.1);
    Comparison comparison(problem, pool);
    comparison.add_trained("ours", result);
    ASSERT_EQ(comparison.rows().size(), 1u);

    spec.weights = WeightKind::real;
    result.pretrained = untrained_model(spec, problem.op, 0.1);
    result.pretrained_epochs = 7;
    comparison.add_trained("ours", result);
    ASSERT_EQ(comparison.rows().size(), 3u);
    EXPECT_EQ(comparison.rows()[1].method, "float, after pretraining: 7 epochs");
    EXPECT_FALSE(comparison.rows()[1].ours);
    EXPECT_NE(comparison.rows()[1].note, "");
    EXPECT_TRUE(comparison.rows()[2].ours);
    EXPECT_GT(comparison.rows()[1].stored_bits, comparison.rows()[2].stored_bits);
}

TEST(Comparison, ReferencesAreThoseAnExpertAsksFor) {
    ThreadPool pool(2);
    const Problem problem = small_problem(0.1, 0.02, pool);
    Comparison comparison(problem, pool);
    comparison.add_references(5);
    std::vector<std::string> methods;
    for (const ComparisonRow& row : comparison.rows()) {
        methods.push_back(row.method);
        EXPECT_EQ(row.metrics.signals, 60u);
        EXPECT_TRUE(row.bound || row.time.latency_us > 0) << row.method;
    }
    EXPECT_EQ(methods, (std::vector<std::string>{
                           "ISTA, 5 iterations", "FISTA, 5 iterations", "FISTA, 100 iterations",
                           "OMP", "AMP, soft thresholds", "AMP, Bernoulli-Gaussian", "linear MMSE",
                           "linear MMSE, int8", "oracle: knows the support"}));
}

TEST(Comparison, OmpIsLeftOutWhereASignalTakesSeconds) {
    ThreadPool pool(1);
    // Every entry of a blur of 3000 samples: up to 3000 columns per signal.
    Matrix<float> band(3000, 3000);
    for (std::size_t i = 0; i < 3000; ++i) band(i, i) = 1;
    Problem problem;
    problem.op = Operator::from_sparse(band);
    problem.train.x = Batch(2, 3000);
    for (float& v : problem.train.x.values()) v = 1;
    problem.train.y = problem.train.x;
    problem.test = problem.train;
    Comparison comparison(problem, pool);
    comparison.add_omp();
    EXPECT_TRUE(comparison.rows().empty());
}

TEST(Comparison, SolversAreJudgedByFewerSignalsOnLargeOperators) {
    const auto judging = [](const Structure& structure, std::size_t test) {
        const Operator op(structure, AlignedBuffer<float>(structure.links(), 1.0F));
        return Comparison::judging_signals(op, test);
    };
    EXPECT_EQ(judging(Structure::dense(50, 100), 1000), 1000u);
    EXPECT_EQ(judging(Structure::dense(250, 500), 1000), 1000u);
    EXPECT_EQ(judging(Structure::dense(1000, 2000), 1000), 250u);
    EXPECT_EQ(judging(Structure::repeated(50, 100, 1000), 1000), 100u);
    EXPECT_EQ(judging(Structure::dense(1000, 2000), 20), 20u) << "no more than there are";
}

}  // namespace
}  // namespace pibinn::study
