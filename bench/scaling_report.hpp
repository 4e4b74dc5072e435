#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/result.hpp"
#include "report/plot.hpp"

namespace pibinn::bench {

/// What a unit of each axis costs: level where cost grows linearly.
std::string scaling_text(const std::vector<ScalingResult>& results);
nlohmann::ordered_json scaling_json(const std::vector<ScalingResult>& results);
/// Cost over size, both in multiples of a curve's first point.
Plot scaling_plot(const std::vector<ScalingResult>& results);

}  // namespace pibinn::bench
