#pragma once

#include <string>

#include "pibinn/certificate.hpp"
#include "pibinn/suggest.hpp"

namespace pibinn::cli {

/// The certificate as a person reads it: layers, responses, verdict.
std::string certificate_text(const Certificate& certificate);
std::string suggestion_text(const Certificate& certificate, const Suggestion& suggestion);

/// What `inspect` says of the certificate that a model carries; empty without one.
struct AttachedCertificate {
    bool present = false;
    bool matches = false;  ///< made of these very weights
    std::string verdict, why;

    static AttachedCertificate of(const Model& model);
    std::string text() const;
};

}  // namespace pibinn::cli
