#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pibinn/calibration.hpp"

namespace pibinn {

/// Every number of a calibration; what is infinite becomes null.
nlohmann::ordered_json to_json(const Calibration& calibration);

/// Where a model carries its calibration.
inline constexpr const char* kCalibrationKey = "pibinn.calibration";

}  // namespace pibinn
