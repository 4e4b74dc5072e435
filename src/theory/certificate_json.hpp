#pragma once

#include <nlohmann/json.hpp>

#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"

namespace pibinn {

/// Every number of a certificate, lists by layer; what is infinite becomes null.
nlohmann::ordered_json to_json(const Certificate& certificate);
nlohmann::ordered_json to_json(const Suggestion& suggestion, double scale);

/// Where a model carries its certificate (`certify --attach`).
inline constexpr const char* kCertificateKey = "pibinn.certificate";

}  // namespace pibinn
