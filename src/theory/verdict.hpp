#pragma once

#include "pibinn/certificate.hpp"

namespace pibinn {

/// alpha < 1, and no layer can light up an entry outside the support.
bool proves(const BoundInputs& terms, const ErrorBound& bound);

/// Fills in the verdict, its reasons, and where the response bounds are proven.
void judge(Certificate& certificate);

}  // namespace pibinn
