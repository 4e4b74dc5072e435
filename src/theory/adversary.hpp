#pragma once

#include <cstdint>
#include <vector>

#include "pibinn/certificate.hpp"
#include "spectral/block_network.hpp"
#include "spectral/spectral_terms.hpp"

namespace pibinn {

/// Where an adversary may look for its signals.
struct AttackedClass {
    std::vector<Support> supports;  ///< empty: all supports of `size` entries
    std::size_t size = 0;
    double B = 1;
    double noise = 0;
};

/// Looks for the signal and the noise of a class with the largest error after the last layer, by
/// projected gradient ascent in float64: half of the starts go for the largest error, the others
/// for an entry outside the support. It finds examples, never proofs: what it finds must stay under
/// every bound.
Attack attack(const std::vector<BlockNetwork>& networks, const AttackedClass& signals,
              std::size_t starts, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
