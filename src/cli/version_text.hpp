#pragma once

#include <string>

namespace pibinn::cli {

/// What `pibinn --version` says: version, compiler, BLAS, kernels and devices.
std::string version_text();

}  // namespace pibinn::cli
