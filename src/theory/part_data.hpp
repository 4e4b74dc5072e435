#pragma once

#include <vector>

#include "pibinn/certificate.hpp"
#include "theory/spectral.hpp"

namespace pibinn {

/// The parts of some signals that belong to one block, zero parts left out.
struct PartSignals {
    Rows x;
    Rows y;
};

struct PartData {
    std::vector<PartSignals> blocks;  ///< one a block
    std::vector<Support> supports;    ///< distinct ones, in order
    std::size_t signals = 0;
    std::size_t largest = 0;  ///< entries of the largest support
    double norm = 0;          ///< largest ||x||
    double noise = 0;         ///< largest ||y - A x||
};

/// Refuses what does not match the model, signals that are all zero, and supports of more entries
/// than there are measurements.
PartData split_signals(const Model& model, const std::vector<PartNetwork>& networks,
                       const CertificateInput& input);

/// Runs the network over all parts.
std::vector<MeasuredLayer> measure_layers(const std::vector<PartNetwork>& networks,
                                          const PartData& data, ThreadPool& pool);

}  // namespace pibinn
