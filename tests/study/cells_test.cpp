#include "study/cells.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "core/test_folder.hpp"
#include "pibinn/error.hpp"
#include "study/config_document.hpp"
#include "study/run_folder.hpp"

namespace pibinn::study {
namespace {

/// Runs of one seed with so many epochs, each in a folder of its own.
std::vector<TrainingRun> tiny_runs(const TestFolder& folder, const std::vector<int>& epochs,
                                   const std::string& rate = "1e-3") {
    std::vector<TrainingRun> runs;
    for (std::size_t i = 0; i < epochs.size(); ++i) {
        const std::vector<std::string> settings{
            "problem.m=6",
            "problem.n=8",
            "problem.train=50",
            "problem.test=20",
            "model.layers=2",
            "train.batch=25",
            "train.recipe=paper",
            "model.weights=float",
            "train.stage.pretrain.epochs=" + std::to_string(epochs[i]),
            "train.stage.pretrain.learning_rate=" + rate};
        const ConfigDocument document("", settings);
        TrainingRun run;
        run.config = read_config(document);
        run.train = read_train_config(document, run.config);
        run.folder = folder.path() / std::to_string(i);
        std::filesystem::create_directories(run.folder);
        runs.push_back(std::move(run));
    }
    return runs;
}

std::vector<Cell> cells_of(const std::vector<TrainingRun>& runs) {
    std::vector<Cell> cells;
    for (const TrainingRun& run : runs) cells.push_back({&run, 0, 1});
    return cells;
}

TEST(RunCells, TrainsEveryCellTheLongestFirst) {
    const TestFolder folder;
    const std::vector<TrainingRun> runs = tiny_runs(folder, {1, 4, 2, 3});
    const std::vector<Cell> cells = cells_of(runs);
    EXPECT_EQ(total_work(cells), 10u);
    TrainingProgress progress({}, total_work(cells));
    ThreadPool pool(1);
    std::vector<std::size_t> order;
    run_cells(
        cells, [&](std::size_t i) { return seed_problem(runs[i].config, 0, pool); },
        [&](std::size_t i, SeedRun seed) {
            EXPECT_TRUE(seed.result.finished);
            order.push_back(i);
        },
        progress, pool);
    EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 2, 0}));
    EXPECT_EQ(progress.done(), 10u);
}

TEST(RunCells, LargeNetworksTrainOneByOneBeforeTheOthers) {
    const TestFolder folder;
    std::vector<TrainingRun> runs = tiny_runs(folder, {1, 2, 3, 4});
    const Config small = runs[0].config;
    for (const std::size_t large : {0, 2}) runs[large].config.problem.spec.n = 100'000'000;
    TrainingProgress progress({}, 10);
    ThreadPool pool(2);
    std::mutex mutex;
    std::vector<std::size_t> order;
    std::size_t at_once = 0;
    run_cells(
        cells_of(runs),
        [&](std::size_t i) {
            const std::lock_guard lock(mutex);
            order.push_back(i);
            at_once += order.size() <= 2 ? 1 : 0;
            EXPECT_LE(at_once, 1u);
            return seed_problem(small, 0, pool);
        },
        [&](std::size_t, SeedRun) {
            const std::lock_guard lock(mutex);
            at_once -= at_once > 0 ? 1 : 0;
        },
        progress, pool);
    ASSERT_EQ(order.size(), 4u);
    EXPECT_EQ(order[0], 2u);
    EXPECT_EQ(order[1], 0u);
}

TEST(RunCells, WhatIsStoppedIsNotDoneAndTheOthersDoNotStart) {
    const TestFolder folder;
    const std::vector<TrainingRun> runs = tiny_runs(folder, {5, 5, 5});
    const std::vector<Cell> cells = cells_of(runs);
    TrainingProgress progress([](const Progress& p) { return p.done < 2; }, 15);
    ThreadPool pool(1);
    std::size_t made = 0, done = 0;
    run_cells(
        cells,
        [&](std::size_t i) {
            ++made;
            return seed_problem(runs[i].config, 0, pool);
        },
        [&](std::size_t, SeedRun) { ++done; }, progress, pool);
    EXPECT_EQ(made, 1u);
    EXPECT_EQ(done, 0u);
}

TEST(RunCells, AFailedTrainingStopsTheOthersUnlessSomebodyHears) {
    const TestFolder folder;
    const std::vector<TrainingRun> runs = tiny_runs(folder, {40, 40}, "1e30");
    const std::vector<Cell> cells = cells_of(runs);
    ThreadPool pool(2);
    const auto problem = [&](std::size_t i) { return seed_problem(runs[i].config, 0, pool); };
    TrainingProgress first({}, 80);
    EXPECT_THROW(run_cells(
                     cells, problem, [](std::size_t, SeedRun) {}, first, pool),
                 Error);
    EXPECT_TRUE(first.stopped());

    std::mutex mutex;
    std::vector<std::size_t> failed;
    TrainingProgress second({}, 80);
    run_cells(
        cells, problem, [](std::size_t, SeedRun) { ADD_FAILURE(); }, second, pool,
        [&](std::size_t i, const Error& error) {
            const std::lock_guard lock(mutex);
            EXPECT_EQ(error.kind(), ErrorKind::failed);
            failed.push_back(i);
        });
    std::sort(failed.begin(), failed.end());
    EXPECT_EQ(failed, (std::vector<std::size_t>{0, 1}));
    EXPECT_FALSE(second.stopped());
}

TEST(RunCells, DeeperNetworksAndMoreSignalsAreMoreWork) {
    const auto work = [](const std::vector<std::string>& settings) {
        return epoch_work(read_config(ConfigDocument("", settings)));
    };
    EXPECT_GT(work({"model.layers=20"}), 3 * work({"model.layers=5"}));
    EXPECT_GT(work({"problem.train=4000"}), 3 * work({"problem.train=1000"}));
    EXPECT_GT(work({"problem.structure=repeated", "problem.repeat=4", "model.structure=dense"}),
              3 * work({"problem.structure=repeated", "problem.repeat=4"}));
}

}  // namespace
}  // namespace pibinn::study
