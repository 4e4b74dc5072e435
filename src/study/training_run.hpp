#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/numbers.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/communicator.hpp"
#include "pibinn/train.hpp"
#include "study/config.hpp"
#include "study/config_train.hpp"
#include "study/training_progress.hpp"

namespace pibinn::study {

/// A training as it was asked for.
struct TrainingRun {
    Config config;
    TrainConfig train;
    std::filesystem::path folder;
    bool resume = false;
    bool replaces = false;       ///< a run that the folder holds
    std::string device = "cpu";  ///< where numbers live, as TrainJob::device
    std::string command;         ///< that makes it again, without its folder
    std::string label;           ///< beside its progress, where it is one of several
};

/// The problem of every seed of a run. Runs that differ in their network alone share them.
using SeedProblems = std::vector<std::shared_ptr<const Problem>>;
std::shared_ptr<const Problem> seed_problem(const Config& config, std::size_t index,
                                            ThreadPool& pool);
SeedProblems make_problems(const Config& config, std::size_t seeds, ThreadPool& pool);

/// What came of one seed.
struct SeedRun {
    std::uint64_t seed = 0;
    std::shared_ptr<const Problem> problem;
    TrainResult result;
    /// Of a training with a guarantee: what the theory says of the model as it is stored.
    std::shared_ptr<const Certificate> certificate;
};

/// Trains every seed, side by side over the pool, into folders that exist; each epoch counts as
/// `work`. When the progress is asked to stop, checkpoints are written and some seeds are not
/// finished. With several ranks all call this, and rank 0 alone has what came of it.
std::vector<SeedRun> train_seeds(const TrainingRun& run, const SeedProblems& problems,
                                 TrainingProgress& progress, std::uint64_t work, ThreadPool& pool,
                                 Communicator& ranks = alone());

/// Certifies a finished seed that was trained with a guarantee, and saves the model of one of
/// several seeds.
void keep_seed(const TrainingRun& run, std::size_t index, SeedRun& seed, ThreadPool& pool);

/// All seeds of a run, and how far they came.
struct TrainedRun {
    std::vector<SeedRun> seeds;
    bool finished = true;  ///< false when `progress` asked to stop: checkpoints are there
    std::uint64_t epochs = 0, all_epochs = 0;
};

/// Makes the problems of a run, tells their notes and trains every seed.
/// With several ranks all call this, and rank 0 alone has what came of it.
TrainedRun run_training(const TrainingRun& run, const ProgressSink& progress, ThreadPool& pool,
                        Communicator& ranks = alone());

/// Mean and deviation of one number over the seeds.
Spread over_seeds(const std::vector<SeedRun>& seeds,
                  const std::function<double(const SeedRun&)>& value);
bool all_finished(const std::vector<SeedRun>& seeds);

/// summary.json of a run: the problem, the network, the scores of the seeds and their spread.
nlohmann::ordered_json summary_json(const TrainingRun& run, const std::vector<SeedRun>& seeds);

/// What speaks against using the models as they are, each said once: TrainResult::warnings of the
/// first seed that has any, and an alpha above the one that a stage asks for.
std::vector<std::string> warnings_of(const std::vector<SeedRun>& seeds);

}  // namespace pibinn::study
