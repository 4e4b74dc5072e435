#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/config.hpp"
#include "cli/config_train.hpp"
#include "cli/console.hpp"
#include "cli/training_bar.hpp"
#include "pibinn/train.hpp"

namespace pibinn::cli {

/// A training as it was asked for.
struct TrainingRun {
    Config config;
    TrainConfig train;
    std::filesystem::path folder;
    bool resume = false;
    std::string command;  ///< that makes it again, but for its --out
    std::string label;    ///< beside the bar, where it is one of several
};

/// What came of one seed.
struct SeedRun {
    std::uint64_t seed = 0;
    Problem problem;
    TrainResult result;
};

/// Trains every seed, side by side over the pool, into folders that are there; each epoch is so
/// much `work` to the bar. On Ctrl-C the checkpoints are written, and some seeds are not finished.
std::vector<SeedRun> train_seeds(const TrainingRun& run, TrainingBar& bar, std::uint64_t work,
                                 ThreadPool& pool);
bool all_finished(const std::vector<SeedRun>& seeds);

/// The same as all that is to be done: stopped, it ends in a `failed` error that says how to go on.
std::vector<SeedRun> run_training(const TrainingRun& run, Console& console, ThreadPool& pool);

/// summary.json of a run: the problem, the network, the scores of the seeds and their spread.
nlohmann::ordered_json summary_json(const TrainingRun& run, const std::vector<SeedRun>& seeds);

/// A line where a seed ended above the alpha that a stage asks for, else nothing.
std::string alpha_warning(const std::vector<SeedRun>& seeds);

}  // namespace pibinn::cli
