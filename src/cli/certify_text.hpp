#pragma once

#include <optional>
#include <string>

#include "pibinn/certificate.hpp"

namespace pibinn::cli {

/// What `inspect` says of the certificate that a model carries; empty without one.
std::string attached_text(const std::optional<AttachedCertificate>& attached);

}  // namespace pibinn::cli
