#pragma once

#include <vector>

#include "pibinn/certificate.hpp"
#include "spectral/spectral_terms.hpp"
#include "theory/certified_signals.hpp"

namespace pibinn {

/// The parts of some signals that belong to one block, zero parts left out.
struct BlockSignals {
    Rows x;
    Rows y;
};

struct BlockData {
    std::vector<BlockSignals> blocks;  ///< one per block
    std::vector<Support> supports;     ///< distinct ones, in order
    std::size_t signals = 0;
    std::size_t largest = 0;  ///< entries of the largest support
    double norm = 0;          ///< largest ||x||
    double noise = 0;         ///< largest ||y - A x||
};

/// Refuses signals that are all zero, and supports of more entries than there are measurements.
BlockData split_signals(const Model& model, const std::vector<BlockNetwork>& networks,
                        const CertifiedSignals& signals);

/// Adds the support of one entry for every block that has none: where there is noise, it alone must
/// not switch an entry of such a block on.
void follow_silent_blocks(const std::vector<BlockNetwork>& networks, BlockData& data);

/// Runs the network over all parts.
std::vector<MeasuredLayer> measure_layers(const std::vector<BlockNetwork>& networks,
                                          const BlockData& data, ThreadPool& pool);

}  // namespace pibinn
