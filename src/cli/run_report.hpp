#pragma once

#include <string>

#include "cli/comparison.hpp"
#include "cli/training_run.hpp"

namespace pibinn::cli {

/// report.html of a run: the page of room `report`, filled with what the run gave.
std::string run_report(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                       const Comparison& comparison, ThreadPool& pool);

}  // namespace pibinn::cli
