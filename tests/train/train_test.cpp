#include "pibinn/train.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "core/file.hpp"
#include "model/cases.hpp"
#include "pibinn/error.hpp"
#include "train/small_problem.hpp"

namespace pibinn {
namespace {

using testing::small_problem;

Recipe quick(std::string_view name, const NetworkSpec& spec, std::size_t epochs = 4) {
    Recipe recipe = named_recipe(name, spec);
    recipe.batch = 50;
    recipe.augment = Augment::none;
    for (Stage& stage : recipe.stages) stage.epochs = epochs;
    return recipe;
}

TEST(Train, EveryStructureKindAndRecipeRunsAndLowersTheLoss) {
    ThreadPool pool(2);
    for (auto structure : {StructureKind::dense, StructureKind::repeated, StructureKind::blocks,
                           StructureKind::mask}) {
        const Problem problem = small_problem(pool, testing::some_structure(structure));
        for (const WeightKind kind : weight_kinds())
            for (const char* name : {"paper", "default"}) {
                TrainJob job;
                job.problem = &problem;
                job.spec.layers = 3;
                job.spec.weights = kind;
                job.spec = network_for(name, job.spec);
                job.recipe = quick(name, job.spec, 30);
                const TrainResult result = train(job, pool);
                const auto label =
                    fmt::format("{} {} {}", to_string(structure), to_string(kind), name);
                ASSERT_EQ(result.history.size(), job.recipe.epochs()) << label;
                EXPECT_LT(result.history[29].loss, result.history[0].loss) << label;
                if (kind == WeightKind::one_bit) {
                    EXPECT_LT(result.history.back().loss, result.history[30].loss) << label;
                }
                EXPECT_LT(result.test.nmse_db, 0.0) << label;
                EXPECT_EQ(result.test_nmse_db_per_layer.size(), 3u);
                EXPECT_NEAR(result.test_nmse_db_per_layer.back(), result.test.nmse_db, 1e-9);
            }
    }
}

/// A tied network with a learned shrink on signs, trained for 40 epochs.
struct TiedTraining {
    explicit TiedTraining(std::optional<SnrRange> noise = {}) {
        SyntheticSpec made;
        made.m = 25;
        made.n = 50;
        made.train = 500;
        made.test = 200;
        made.ensemble = OperatorEnsemble::rademacher;
        made.snr_db = noise;
        problem = make_synthetic(made, 1, pool);
        job.problem = &problem;
        job.spec.layers = 6;
        job.spec.weights = WeightKind::tied;
        job.spec.activation = Activation::piecewise;
        job.recipe = recipe_for(problem, job.spec);
        for (Stage& stage : job.recipe.stages) stage.epochs = 40;
    }
    TrainResult run() { return train(job, pool); }

    ThreadPool pool{2};
    Problem problem;
    TrainJob job;
};

TEST(Train, TiedNetworksLearnTheirScalarsAndEndPolished) {
    TiedTraining training;
    ASSERT_TRUE(training.job.recipe.choose_polish);
    const TrainResult result = training.run();
    EXPECT_LT(result.test.nmse_db, -20);
    EXPECT_TRUE(result.model.weights.empty());
    EXPECT_EQ(count_bits(result.model).weights, 0u);
    EXPECT_EQ(count_bits(result.model).op, 25u * 50 + 32) << "one bit per entry, and a scale";
    EXPECT_EQ(result.model.theta.size(), 24u);
    EXPECT_NE(result.model.gain[0], result.model.gain[4]) << "layers learn shrinks of their own";
    EXPECT_EQ(result.model.spec.polish, 6u) << "there is no noise, so that it gains";
    EXPECT_GT(result.test.exact_share, 0.5);

    training.job.recipe.choose_polish = false;
    const TrainResult plain = training.run();
    EXPECT_EQ(plain.model.spec.polish, 0u);
    EXPECT_EQ(plain.model.theta, result.model.theta) << "polish comes after training";
    EXPECT_GT(plain.test.nmse_db, result.test.nmse_db + 1);
}

TEST(Train, PolishIsLeftOutWhereNoiseRules) {
    EXPECT_EQ(TiedTraining(SnrRange{10, 10}).run().model.spec.polish, 0u);
}

TEST(Train, HardThresholdsThatLearnBeginAsSoftOnesAndEndHard) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    const auto trained = [&](Activation activation, double ramp) {
        TrainJob job;
        job.problem = &problem;
        job.spec.layers = 3;
        job.spec.activation = activation;
        job.spec.weights = WeightKind::real;
        job.recipe = quick("default", job.spec, 20);
        job.recipe.batch = problem.train.x.rows();  // a step an epoch
        job.recipe.ramp = ramp;
        return train(job, pool);
    };
    const TrainResult soft = trained(Activation::soft, 0);
    const TrainResult hard = trained(Activation::hard, 0);
    const TrainResult learnt = trained(Activation::hard, 0.25);
    EXPECT_EQ(learnt.history[0].loss, soft.history[0].loss);
    EXPECT_NE(learnt.history[0].loss, hard.history[0].loss);
    EXPECT_EQ(learnt.model.spec.activation, Activation::hard);
    // The last 40 % are all hard: what the last epoch saw is nearly what is stored.
    const Batch x = recover_coefficients(learnt.model, problem.train.y, pool);
    double error = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        error += std::pow(x.data()[i] - problem.train.x.data()[i], 2);
    EXPECT_NEAR(error / static_cast<double>(x.rows()), learnt.history.back().loss,
                0.02 * learnt.history.back().loss);
}

TEST(Train, FullyConnectedBaselinesTrain) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    for (auto activation : {Activation::relu, Activation::soft}) {
        TrainJob job;
        job.problem = &problem;
        job.spec.architecture = Architecture::fcn;
        job.spec.layers = 3;
        job.spec.activation = activation;
        job.spec.weights = WeightKind::real;
        job.spec.update = Update::plain();
        job.recipe = quick("paper", job.spec, 20);
        const TrainResult result = train(job, pool);
        EXPECT_LT(result.history.back().loss, 0.8 * result.history.front().loss);
    }
}

TEST(Train, L1StageEndsOnTheLevels) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 2;
    job.spec.update = Update::plain();
    job.recipe = quick("paper", job.spec, 30);
    job.recipe.stages[1].projection = Projection::l1;
    job.recipe.stages[1].l1_weight = 20;
    EXPECT_LT(train(job, pool).test.nmse_db, 0.0);
}

TEST(Train, GivesTheSameBytesForAnyNumberOfThreads) {
    const auto folder =
        std::filesystem::temp_directory_path() / fmt::format("pibinn-threads-{}", ::getpid());
    std::filesystem::create_directories(folder);
    std::vector<std::string> bytes;
    for (std::size_t threads : {1u, 2u, 5u}) {
        ThreadPool pool(threads);
        const Problem problem = small_problem(pool);
        TrainJob job;
        job.problem = &problem;
        job.spec.layers = 3;
        job.recipe = quick("default", job.spec);
        job.recipe.batch = 150;  // three passes a batch
        train(job, pool).model.save(folder / "m.safetensors");
        bytes.push_back(read_file(folder / "m.safetensors"));
    }
    EXPECT_EQ(bytes[0], bytes[1]);
    EXPECT_EQ(bytes[0], bytes[2]);
    std::filesystem::remove_all(folder);
}

TEST(UsualBatch, CountsRepetitionsAndNeverPassesTheRowsTrainedOn) {
    ThreadPool pool(1);
    Problem small = small_problem(pool);  // 150 rows
    Recipe recipe;
    EXPECT_EQ(usual_batch(small, recipe), 25u);
    recipe.validation = 0.2;
    EXPECT_EQ(usual_batch(small, recipe), 25u);
    small.train.x = Batch(30, 20);
    EXPECT_EQ(usual_batch(small, recipe), 24u);
    small.train.x = Batch(1000, 20);
    EXPECT_EQ(usual_batch(small, recipe), 100u);
    small.train.x = Batch(4000, 20);
    EXPECT_EQ(usual_batch(small, recipe), 250u);
    recipe.validation = 0;
    EXPECT_EQ(usual_batch(small_problem(pool, Structure::repeated(4, 6, 5)), recipe), 18u);
    EXPECT_EQ(usual_batch(small_problem(pool, Structure::repeated(1, 2, 300)), recipe), 1u);
}

/// Rows of norm 1, so that the mean of ratios and the ratio of energies are the same.
Problem with_unit_signals(Problem problem, ThreadPool& pool) {
    for (DataSet* set : {&problem.train, &problem.test}) {
        for (std::size_t i = 0; i < set->x.rows(); ++i) {
            double energy = 0;
            for (float v : set->x.row(i)) energy += double{v} * v;
            for (float& v : set->x.row(i)) v = static_cast<float>(v / std::sqrt(energy));
        }
        problem.op.apply(set->x, set->y, pool);
    }
    return problem;
}

TEST(Validation, EndsAStageWithItsBestEpoch) {
    ThreadPool pool(1);
    Problem problem = with_unit_signals(small_problem(pool), pool);
    // The test set is the held-out rows, so that the history shows what validation saw.
    problem.test = {Batch(50, 20), Batch(50, 12)};
    std::copy_n(problem.train.x.row(100).begin(), 50 * 20, problem.test.x.data());
    std::copy_n(problem.train.y.row(100).begin(), 50 * 12, problem.test.y.data());
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 3;
    job.spec.weights = WeightKind::real;
    job.recipe = quick("paper", job.spec, 60);
    job.recipe.stages[0].learning_rate = 0.05;  // far too high: the error jumps about
    job.recipe.validation = 1.0 / 3;
    const TrainResult result = train(job, pool);
    double best = 0, worst_late = -100;
    for (std::size_t e = 0; e + 1 < result.history.size(); ++e) {
        best = std::min(best, result.history[e].test_nmse_db);
        if (e > 30) worst_late = std::max(worst_late, result.history[e].test_nmse_db);
    }
    EXPECT_LE(result.test.nmse_db, best + 1e-6);
    EXPECT_GT(worst_late, best + 0.5) << "some late epoch should be a bad one";
}

TEST(Validation, KeepsItsRowsOutOfTraining) {
    ThreadPool pool(1);
    Problem problem = small_problem(pool);
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 2;
    job.recipe = quick("default", job.spec);
    job.recipe.validation = 0.2;
    const auto before = train(job, pool).history;
    for (std::size_t i = 120; i < 150; ++i)
        for (float& v : problem.train.y.row(i)) v += 3;
    const auto after = train(job, pool).history;
    // Within the first stage nothing but the choice at its end depends on the rows held out.
    for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(before[e].loss, after[e].loss);
    job.recipe.validation = 0;
    EXPECT_NE(train(job, pool).history[0].loss, before[0].loss);
}

TEST(Pretrained, IsTheFloatNetworkOfTheFloatStagesAlone) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 3;
    job.recipe = quick("default", job.spec);
    const TrainResult result = train(job, pool);
    ASSERT_TRUE(result.pretrained);
    EXPECT_EQ(result.pretrained_epochs, 4u);

    TrainJob floats = job;
    floats.spec.weights = WeightKind::real;
    floats.recipe.stages.resize(1);
    const TrainResult alone = train(floats, pool);
    EXPECT_EQ(result.pretrained->spec.weights, WeightKind::real);
    EXPECT_EQ(result.pretrained->weights, alone.model.weights);
    EXPECT_EQ(result.pretrained->theta, alone.model.theta);
    EXPECT_NE(result.pretrained->weights, result.model.weights);
    EXPECT_FALSE(alone.pretrained) << "a float network has no float twin";

    job.recipe.stages.erase(job.recipe.stages.begin());
    EXPECT_FALSE(train(job, pool).pretrained) << "no stage was float";
}

class Resume : public ::testing::Test {
protected:
    Resume()
        : folder_(std::filesystem::temp_directory_path() /
                  fmt::format("pibinn-resume-{}", ::getpid())) {
        std::filesystem::create_directories(folder_);
        problem_ = small_problem(pool_);
        job_.problem = &problem_;
        job_.spec.layers = 3;
        job_.recipe = quick("default", job_.spec);
        job_.recipe.stages[1].epochs = 7;  // a validation within the stage and one at its end
        job_.recipe.stages[1].average = 0.8;
        job_.recipe.validation = 0.2;
        job_.folder = folder_;
        job_.resume = true;
    }
    ~Resume() override { std::filesystem::remove_all(folder_); }

    ThreadPool pool_{1};
    std::filesystem::path folder_;
    Problem problem_;
    TrainJob job_;
};

TEST_F(Resume, AfterAnyEpochEndsLikeAnUndisturbedRun) {
    TrainJob undisturbed = job_;
    undisturbed.folder.clear();
    const TrainResult full = train(undisturbed, pool_);
    const Model& expected = full.model;
    ASSERT_TRUE(full.pretrained);
    for (std::size_t stop = 1; stop < job_.recipe.epochs(); ++stop) {
        std::filesystem::remove(folder_ / "checkpoint.safetensors");
        const TrainResult half =
            train(job_, pool_, [&](const Progress& p) { return p.done < stop; });
        EXPECT_FALSE(half.finished);
        EXPECT_EQ(half.history.size(), stop);
        const TrainResult whole = train(job_, pool_);
        EXPECT_TRUE(whole.finished);
        EXPECT_EQ(whole.model.weights, expected.weights) << "stopped after epoch " << stop;
        EXPECT_EQ(whole.model.theta, expected.theta);
        EXPECT_EQ(whole.model.beta, expected.beta);
        EXPECT_EQ(whole.history.size(), job_.recipe.epochs());
        ASSERT_TRUE(whole.pretrained) << "stopped after epoch " << stop;
        EXPECT_EQ(whole.pretrained->weights, full.pretrained->weights);
        EXPECT_EQ(whole.pretrained->theta, full.pretrained->theta);
    }
}

TEST_F(Resume, RefusesACheckpointOfAnotherTraining) {
    train(job_, pool_, [](const Progress& p) { return p.done < 2; });
    const auto message = [&](const TrainJob& job) {
        try {
            train(job, pool_);
        } catch (const Error& e) {
            return e.message();
        }
        return std::string("accepted");
    };
    TrainJob other = job_;
    other.recipe.batch = 25;
    EXPECT_NE(message(other).find("batch was 50, is now 25"), std::string::npos) << message(other);
    other = job_;
    other.seed = 2;
    EXPECT_NE(message(other).find("seed was 1, is now 2"), std::string::npos);
    other = job_;
    other.spec.layers = 4;
    EXPECT_NE(message(other).find("network/layers was 3, is now 4"), std::string::npos)
        << message(other);
    const std::string bytes = read_file(folder_ / "checkpoint.safetensors");
    write_file(folder_ / "checkpoint.safetensors", bytes.substr(0, bytes.size() / 2));
    EXPECT_NE(message(job_), "accepted");
}

TEST(Train, SaysWhereItDiverged) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 6;
    job.spec.weights = WeightKind::real;
    job.spec.update = Update::plain();
    job.recipe = quick("paper", job.spec, 50);
    job.recipe.stages[0].learning_rate = 50;
    try {
        train(job, pool);
        FAIL() << "did not diverge";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::failed);
        EXPECT_NE(e.message().find("diverged in epoch"), std::string::npos);
        EXPECT_NE(e.message().find("layer"), std::string::npos);
    }
}

TEST(Train, RefusesABatchLargerThanTheSet) {
    ThreadPool pool(1);
    const Problem problem = small_problem(pool);
    TrainJob job;
    job.problem = &problem;
    job.recipe = quick("default", job.spec);
    job.recipe.batch = 151;
    EXPECT_THROW(train(job, pool), Error);
}

}  // namespace
}  // namespace pibinn
