// room: problem
#pragma once

#include <cstddef>
#include <optional>

namespace pibinn {

/// Sparse complex spectra of n entries: each is CN(0, 1) with probability `density`, at least one
/// of them, or exactly `nonzeros` are. A row holds n real parts, then n imaginary parts.
struct SpectrumPrior {
    std::size_t n = 256;
    double density = 0.05;
    std::optional<std::size_t> nonzeros = {};  ///< instead of the density
};

}  // namespace pibinn
