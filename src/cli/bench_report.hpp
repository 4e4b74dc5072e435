#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/bench.hpp"
#include "report/plot.hpp"

namespace pibinn::cli {

/// The processor by the name it gives itself and its cores, and the BLAS with the one it runs as.
std::string machine_text();
std::string blas_text();

/// A table for each bench among the results, with its unit.
std::string results_text(const std::vector<BenchResult>& results);
nlohmann::ordered_json results_json(const std::vector<BenchResult>& results);

/// What a unit of each axis costs: level where cost grows linearly.
std::string scaling_text(const std::vector<ScalingResult>& results);
nlohmann::ordered_json scaling_json(const std::vector<ScalingResult>& results);
/// Cost over size, both in multiples of a curve's first point.
Plot scaling_plot(const std::vector<ScalingResult>& results);

}  // namespace pibinn::cli
