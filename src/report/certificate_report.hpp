#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"
#include "report/html.hpp"

namespace pibinn {

/// All that the page of a certificate tells.
struct CertificateReport {
    Certificate certificate;
    std::optional<Suggestion> suggestion;
    std::string command;  ///< that makes this certificate again
    std::string version;
};

/// f_k by layer with the line at 1: the paper's figures 3, 4, 5 and st_new.
Figure spectral_figure(const Certificate& certificate);
/// What was measured and what bounds it, by layer, on a log axis.
Figure error_figure(const Certificate& certificate);

/// The HTML page of a certificate.
std::string certificate_report(const CertificateReport& report);

}  // namespace pibinn
