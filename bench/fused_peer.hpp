#pragma once

#include <cstdint>
#include <vector>

#include "bench/recovery_peer.hpp"

namespace pibinn::bench {

/// The network with float weights in a loop made like ours: A x from the columns where x is not
/// zero, thresholds and supports while the sums are still in registers. What our kernels gain on it
/// is what one bit per link gains.
class FusedPeer : public RecoveryPeer {
public:
    FusedPeer(const RecoveryNetwork& network, std::size_t workers);

    void recover(ConstBatchView y, BatchView x, std::size_t worker) override;

private:
    struct Workspace {
        AlignedBuffer<float> y, p1, p2, r, x1, x2;
        AlignedBuffer<std::uint32_t> support;
        std::vector<std::size_t> alive;
        std::vector<float> tau;
    };

    const RecoveryNetwork& network_;  ///< lives longer
    std::size_t m_padded_, n_padded_;
    AlignedBuffer<float> a_;        ///< n columns of m_padded
    AlignedBuffer<float> weights_;  ///< [layer][block of outputs][m][outputs of a block]
    std::vector<Workspace> workspaces_;
};

}  // namespace pibinn::bench
