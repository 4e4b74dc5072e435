#pragma once

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include "report/certificate_report.hpp"

namespace pibinn::study {

/// A certificate, with its suggestion where there is one.
nlohmann::ordered_json certificate_json(const CertificateReport& report);

/// certificate.json, certificate.html and the pictures of both figures, in a folder that is made
/// where it is missing. Everything is drawn before anything is written.
void write_certificate(const CertificateReport& report, const std::filesystem::path& folder);

}  // namespace pibinn::study
