#pragma once

#include <string>

#include "study/comparison.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// A line on the signals and the noise of a problem.
std::string problem_line(const Config& config, const Problem& problem);

/// The references of the first seed's problem, and the network that was trained for it.
Comparison compare_run(const TrainingRun& run, const SeedRun& first, ThreadPool& pool);

/// What a run leaves beside its checkpoints: model.safetensors of the first seed, report.html (the
/// page of room `report`) and, last of all, summary.json, which is also the answer.
nlohmann::ordered_json write_results(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                                     const Comparison& comparison, ThreadPool& pool);

}  // namespace pibinn::study
