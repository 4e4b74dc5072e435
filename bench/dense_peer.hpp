#pragma once

#include <vector>

#include "bench/products.hpp"
#include "bench/recovery_peer.hpp"

namespace pibinn::bench {

/// The network as one writes it on a library of dense products: two products per layer on as many
/// rows as fit the cache, fused loops between them. It does not skip zeros.
class DensePeer : public RecoveryPeer {
public:
    /// One of the layouts that give the same numbers.
    struct Layout {
        bool operator_transposed = false;
        bool weights_transposed = false;
        std::size_t rows = 1;  ///< that pass through all layers together
        bool operator==(const Layout&) const = default;
    };

    /// Tries the layouts on `sample`, a batch like those to come, and keeps the fastest.
    DensePeer(const RecoveryNetwork& network, Product product, std::size_t workers,
              ConstBatchView sample);

    void recover(ConstBatchView y, BatchView x, std::size_t worker) override;
    const Layout& layout() const { return layout_; }

private:
    struct Workspace {
        AlignedBuffer<float> x1, x2, v, q, p, r;
        std::vector<float> slopes;  ///< of a learned shrink, summed over the last x of each row
    };

    void lay_out(const Layout& layout);
    void recover_rows(const float* y, std::size_t rows, float* x, Workspace& space);
    void accelerated_layer(std::size_t k, const float* y, std::size_t rows, Workspace& space);

    const RecoveryNetwork& network_;  ///< lives longer
    Product product_;
    Layout layout_;
    AlignedBuffer<float> a_, weights_;  ///< a tied network has one layer of weights, as it should
    std::vector<Workspace> workspaces_;
};

}  // namespace pibinn::bench
