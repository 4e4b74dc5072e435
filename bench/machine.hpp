#pragma once

#include <string>

namespace pibinn::bench {

/// The processor by the name it gives itself, and its cores.
std::string machine_text();
/// The BLAS, and the kind of processor it runs as.
std::string blas_text();
/// Three digits that matter: "1.52", "37.2", "1285".
std::string time_text(double value);

}  // namespace pibinn::bench
