#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/config.hpp"
#include "cli/config_train.hpp"
#include "cli/console.hpp"
#include "pibinn/train.hpp"

namespace pibinn::cli {

/// A training as it was asked for.
struct TrainingRun {
    Config config;
    TrainConfig train;
    std::filesystem::path folder;
    bool resume = false;
    std::string command;  ///< that makes it again, but for its --out
};

/// What came of one seed.
struct SeedRun {
    std::uint64_t seed = 0;
    Problem problem;
    TrainResult result;
};

/// Trains every seed, side by side over the pool, into folders that are there. On Ctrl-C the
/// checkpoints are written and a `failed` error says how to go on.
std::vector<SeedRun> run_training(const TrainingRun& run, Console& console, ThreadPool& pool);

/// summary.json of a run: the problem, the network, the scores of the seeds and their spread.
nlohmann::ordered_json summary_json(const TrainingRun& run, const std::vector<SeedRun>& seeds);

}  // namespace pibinn::cli
