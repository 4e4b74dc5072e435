#pragma once

#include <optional>
#include <string>

#include "pibinn/calibration.hpp"
#include "pibinn/certificate.hpp"

namespace pibinn::cli {

/// What `inspect` says of the certificate that a model carries; empty without one.
std::string attached_text(const std::optional<AttachedCertificate>& attached);
std::string calibration_text(const std::optional<AttachedCalibration>& attached);

}  // namespace pibinn::cli
