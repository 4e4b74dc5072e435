#pragma once

#include <vector>

#include "cli/console.hpp"
#include "study/training_run.hpp"

namespace pibinn::cli {

/// Trains all seeds of a run with a progress bar. Stopped by Ctrl-C, it ends in a `failed` error
/// that says how to go on.
std::vector<study::SeedRun> run_training(const study::TrainingRun& run, Console& console,
                                         ThreadPool& pool);

/// What the signals of a user were found to be and how they were therefore augmented, and a line
/// for each warning of a run.
std::string data_lines(const std::vector<study::SeedRun>& seeds);

}  // namespace pibinn::cli
