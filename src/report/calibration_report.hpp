#pragma once

#include <string>

#include "pibinn/calibration.hpp"

namespace pibinn {

/// All that the page of a calibration tells.
struct CalibrationReport {
    Calibration calibration;
    std::string command;  ///< that makes this calibration again
    std::string version;
};

/// The HTML page of a calibration.
std::string calibration_report(const CalibrationReport& report);

}  // namespace pibinn
