#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"

namespace pibinn {

/// Every number of a certificate, lists by layer; what is infinite becomes null.
nlohmann::ordered_json to_json(const Certificate& certificate);
nlohmann::ordered_json to_json(const Suggestion& suggestion);

/// Where a model carries its certificate.
inline constexpr const char* kCertificateKey = "pibinn.certificate";

}  // namespace pibinn
