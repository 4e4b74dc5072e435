#pragma once

#include <cstddef>
#include <vector>

#include "pibinn/matrix.hpp"

namespace pibinn::bench {

/// A dense network with soft thresholds or learned shrinks, its weights as floats: what peers are
/// given to run.
/// Links stand column by column, as in the model file.
struct RecoveryNetwork {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    bool plain = true;                ///< neither momentum nor Onsager term
    bool residual_threshold = false;  ///< theta is multiplied with mean|r|
    float delta = 1;
    AlignedBuffer<float> a;          ///< the operator, n x m
    bool tied = false;               ///< all layers have the operator as their weights
    AlignedBuffer<float> weights;    ///< layers x n x m; the operator of a tied network
    std::size_t pieces = 0;          ///< of a learned shrink; 0 for the soft threshold
    std::vector<float> theta;        ///< one per layer, or `pieces` per layer
    std::vector<float> gain;         ///< `pieces` per layer, or none
    std::vector<float> step;         ///< one per layer, of W_k^T r
    std::vector<float> beta, omega;  ///< one per layer, zeros where there are none
};

/// Another way to run the same network.
class RecoveryPeer {
public:
    virtual ~RecoveryPeer() = default;
    /// x of every row of y, both without gaps. `worker` selects the workspace: calls at the same
    /// time take different ones.
    virtual void recover(ConstBatchView y, BatchView x, std::size_t worker) = 0;
};

}  // namespace pibinn::bench
