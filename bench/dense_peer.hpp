#pragma once

#include <vector>

#include "bench/products.hpp"
#include "bench/recovery_network.hpp"

namespace pibinn::bench {

/// The network as one writes it on a library of dense products: two of them a layer on as many rows
/// as fit the cache, fused loops between them. It knows nothing of zeros.
class DensePeer : public RecoveryPeer {
public:
    /// Which of the ways that give the same numbers is taken.
    struct Layout {
        bool operator_turned = false;
        bool weights_turned = false;
        std::size_t rows = 1;  ///< that go through all layers at a time
        bool operator==(const Layout&) const = default;
    };

    /// Tries the layouts on `sample`, a batch like those to come, and keeps the fastest.
    DensePeer(const RecoveryNetwork& network, Product product, std::size_t lanes,
              ConstBatchView sample);

    void recover(ConstBatchView y, BatchView x, std::size_t lane) override;
    const Layout& layout() const { return layout_; }

private:
    struct Lane {
        AlignedBuffer<float> x1, x2, v, q, p, r;
    };

    void lay_out(const Layout& layout);
    void recover_rows(const float* y, std::size_t rows, float* x, Lane& lane);
    void accelerated_layer(std::size_t k, const float* y, std::size_t rows, Lane& lane);

    const RecoveryNetwork& network_;  ///< lives longer
    Product product_;
    Layout layout_;
    AlignedBuffer<float> a_, weights_;
    std::vector<Lane> lanes_;
};

}  // namespace pibinn::bench
