#include "study/config.hpp"

#include <filesystem>
#include <fstream>
#include <random>

#include <unistd.h>

#include <gtest/gtest.h>

#include "pibinn/image.hpp"
#include "pibinn/npy.hpp"
#include "pibinn/study.hpp"
#include "pibinn/train.hpp"
#include "study/config_document.hpp"
#include "study/config_keys.hpp"
#include "study/config_train.hpp"
#include "study/problem_source.hpp"

namespace pibinn::study {
namespace {

namespace fs = std::filesystem;

Config config_of(const std::vector<std::string>& settings) {
    return read_config(ConfigDocument("", settings));
}

/// A folder with arrays, photos and segments, gone at the end of the test.
class OwnData : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ =
            fs::temp_directory_path() / fs::path("pibinn-study-" + std::to_string(::getpid()));
        fs::create_directories(folder_ / "photos");
        std::mt19937 random(1);
        const auto noise = [&](std::size_t rows, std::size_t cols) {
            Batch batch(rows, cols);
            for (float& v : batch.values()) v = static_cast<float>(random() % 1000) / 1000 + 0.01F;
            return batch;
        };
        write_npy(folder_ / "A.npy", noise(8, 16));
        write_npy(folder_ / "x.npy", noise(40, 16));
        write_npy(folder_ / "y.npy", noise(40, 8));
        for (int i = 0; i < 4; ++i)
            write_png(folder_ / "photos" / (std::to_string(i) + ".png"), noise(24, 24));
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string set(const std::string& key, const char* file) const {
        return key + "=\"" + (folder_ / file).string() + "\"";
    }

    fs::path folder_;
};

/// The parser says what is known of a problem before its signals are read; the problem says the
/// same.
TEST_F(OwnData, TraitsOfAConfigurationAreThoseOfItsProblem) {
    const std::string arrays = "problem.kind=arrays";
    const std::vector<std::vector<std::string>> cases{
        {"problem.train=20", "problem.test=5"},
        {"problem.train=20", "problem.test=5", "problem.support=[1, 4]"},
        {"problem.train=20", "problem.test=5", "problem.noise_std=0.1"},
        {"problem.train=20", "problem.test=5", "problem.snr_db=[10, 20]"},
        {arrays, set("problem.operator", "A.npy"), set("problem.x", "x.npy"), "problem.snr_db=20"},
        {"problem.kind=images", set("problem.path", "photos"), "problem.patch=4",
         "problem.snr_db=20"},
        {"problem.kind=signals", set("problem.x", "x.npy"), "problem.snr_db=20"},
        {arrays, set("problem.operator", "A.npy"), set("problem.x", "x.npy")},
        {arrays, set("problem.operator", "A.npy"), set("problem.x", "x.npy"),
         set("problem.y", "y.npy")},
        {arrays, set("problem.operator", "A.npy"), set("problem.x", "x.npy"),
         "problem.noise_std=0.1", "problem.basis=dct"},
        {"problem.kind=images", set("problem.path", "photos"), "problem.patch=4"},
        {"problem.kind=images", set("problem.path", "photos"), "problem.patch=4",
         "problem.noise_std=0"},
        {"problem.kind=signals", set("problem.x", "x.npy")},
        {"problem.kind=signals", set("problem.x", "x.npy"), "problem.noise_std=0.2"},
        {"problem.kind=beamspace", "problem.train=20", "problem.test=5"},
        {"problem.kind=beamspace", "problem.train=20", "problem.test=5", "problem.snr_db=3"},
        {"problem.kind=access", "problem.train=20", "problem.test=5", "problem.antennas=2"},
        {"problem.kind=fourier", "problem.train=20", "problem.test=5"},
        {"problem.kind=fourier", "problem.train=20", "problem.test=5", "problem.noise_std=0"},
    };
    ThreadPool pool(1);
    for (const auto& settings : cases) {
        const Config config = config_of(settings);
        ProblemTraits traits = make_problem(config, pool).traits();
        traits.measurable = true;  // whether y is A x shows in the numbers alone
        EXPECT_TRUE(traits_of(config.problem) == traits) << ::testing::PrintToString(settings);
    }
}

TEST_F(OwnData, TheLibraryTrainsArraysAsTheProgramDoes) {
    Configuration configuration;
    configuration.settings = {"problem.kind=arrays", set("problem.operator", "A.npy"),
                              set("problem.x", "x.npy"), "model.layers=3"};
    const RunResult run = train(configuration, {.folder = folder_ / "run", .threads = 2});
    ASSERT_TRUE(run.finished);
    ASSERT_EQ(run.models.size(), 1U);

    const Problem problem =
        Problem::from_arrays({.op = read_npy(folder_ / "A.npy"), .x = read_npy(folder_ / "x.npy")});
    const TrainResult own = pibinn::train(problem, {.layers = 3});
    EXPECT_EQ(own.model.weights, run.models[0].weights);
    EXPECT_EQ(own.model.theta, run.models[0].theta);
    EXPECT_NE(run.summary.find("\"test_nmse_db\""), std::string::npos);
    EXPECT_TRUE(fs::exists(folder_ / "run" / "report.html"));
}

TEST_F(OwnData, AnAugmentationThatTheProblemRulesOutIsRefusedByTheLibraryToo) {
    const Problem problem = Problem::from_arrays({.op = read_npy(folder_ / "A.npy"),
                                                  .x = read_npy(folder_ / "x.npy"),
                                                  .y = read_npy(folder_ / "y.npy")});
    TrainJob job;
    job.problem = &problem;
    job.spec.layers = 2;
    job.recipe = recipe_for(problem, job.spec);
    EXPECT_EQ(job.recipe.augment, Augment::none);
    job.recipe.augment = Augment::roll;
    ThreadPool pool(1);
    try {
        pibinn::train(job, pool);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::usage);
        EXPECT_NE(error.message().find("not close to A x"), std::string::npos);
    }
}

TEST(ConfigKeys, EachHasAValueToShowAndAMeaning) {
    const std::vector<KeyInfo> keys = config_keys();
    EXPECT_GT(keys.size(), 50U);
    for (const KeyInfo& key : keys) {
        EXPECT_NE(key.value.empty(), key.example.empty()) << key.name;
        EXPECT_FALSE(key.help.empty()) << key.name;
    }
}

TEST(ConfigKeys, AWordFindsItsSetting) {
    EXPECT_EQ(setting_of("layers", "10"), "model.layers=10");
    EXPECT_EQ(setting_of("seed", ""), "seed=1");
    EXPECT_EQ(setting_of("clip", "0.3"), "train.stage.NAME.clip=0.3");
    EXPECT_EQ(setting_of("nothing", "1"), "");
}

TEST(ConfigKeys, TheirDefaultsAreThoseOfAnEmptyConfiguration) {
    const fs::path file =
        fs::temp_directory_path() / ("pibinn-defaults-" + std::to_string(::getpid()) + ".toml");
    std::ofstream(file) << default_config();
    const ConfigDocument printed(file.string(), {});
    const ConfigDocument empty("", {});
    Config ours = read_config(printed), theirs = read_config(empty);
    EXPECT_TRUE(ours.model == theirs.model);
    EXPECT_TRUE(traits_of(ours.problem) == traits_of(theirs.problem));
    EXPECT_TRUE(read_train_config(printed, ours).recipe == read_train_config(empty, theirs).recipe);
    fs::remove(file);
}

}  // namespace
}  // namespace pibinn::study
