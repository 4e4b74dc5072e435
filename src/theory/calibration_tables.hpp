#pragma once

#include <string>
#include <vector>

#include "core/table.hpp"
#include "pibinn/calibration.hpp"

namespace pibinn {

/// The parts of a calibration that its text and its page share.

/// "99 %"
std::string coverage_text(double share);
/// The limit of every coverage, and what was seen.
Table limits_table(const Calibration& calibration);
/// What to know of those numbers, a sentence or two each.
std::vector<std::string> calibration_notes(const Calibration& calibration);
/// Where the signals and measurements came from.
std::string calibration_origin(const Calibration& calibration);

}  // namespace pibinn
