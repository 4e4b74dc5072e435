#pragma once

#include <string>

#include "pibinn/certificate.hpp"

namespace pibinn {

/// No layer can activate an entry outside the support, and the last bound is below B.
bool proves(const BoundInputs& terms, const ErrorBound& bound);

/// Every signal that a proof speaks of, in words.
std::string class_text(const Certificate& certificate);

/// Fills in the verdict, its reasons, what failed, and where the response bounds are proven.
void judge(Certificate& certificate);

}  // namespace pibinn
