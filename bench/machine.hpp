#pragma once

#include <string>

#include "core/machine.hpp"

namespace pibinn::bench {

/// The BLAS, and the kind of processor it runs as.
std::string blas_text();
/// Instructions of a processor that matter to the choice of a BLAS kernel.
struct VectorInstructions {
    bool avx2 = false;
    bool avx512 = false;
};

/// The kind of processor that OpenBLAS should run as, where it took a newer processor for one
/// without vector instructions; empty where its own choice is right. OpenBLAS 0.3.21 runs such a
/// machine as "Prescott": a peer several times slower than it has to be.
std::string better_blas_core(const std::string& chosen, const VectorInstructions& has);
/// Starts this program again with that choice, which OpenBLAS reads when it is loaded. Returns
/// where nothing is to change, or where OPENBLAS_CORETYPE is set already.
void restart_with_better_blas(char** argv);

/// Three digits that matter: "1.52", "37.2", "1285".
std::string time_text(double value);

}  // namespace pibinn::bench
