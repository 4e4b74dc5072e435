#include "bench/fused_peer.hpp"

#include <algorithm>

#include "bench/fused_loop.hpp"

namespace pibinn::bench {

namespace {

std::size_t padded(std::size_t count) {
    return (count + kFusedLanes - 1) / kFusedLanes * kFusedLanes;
}

}  // namespace

FusedPeer::FusedPeer(const RecoveryNetwork& network, std::size_t lanes)
    : network_(network),
      m_padded_(padded(network.m)),
      n_padded_(padded(network.n)),
      a_(network.n * m_padded_),
      weights_(network.layers * n_padded_ * network.m),
      lanes_(lanes) {
    const std::size_t m = network.m;
    const std::size_t n = network.n;
    for (std::size_t j = 0; j < n; ++j) std::copy_n(&network.a[j * m], m, &a_[j * m_padded_]);
    for (std::size_t k = 0; k < network.layers; ++k)
        for (std::size_t j = 0; j < n; ++j) {
            float* const block =
                &weights_[k * n_padded_ * m + j / kFusedLanes * m * kFusedLanes + j % kFusedLanes];
            for (std::size_t i = 0; i < m; ++i)
                block[i * kFusedLanes] = network.weights[(k * n + j) * m + i];
        }
    for (Lane& lane : lanes_) {
        for (AlignedBuffer<float>* buffer : {&lane.y, &lane.p1, &lane.p2, &lane.r})
            buffer->resize(kFusedRows * m_padded_);
        for (AlignedBuffer<float>* buffer : {&lane.x1, &lane.x2})
            buffer->resize(kFusedRows * n_padded_);
        lane.support.resize(kFusedRows * n_padded_);
        lane.alive.resize(kFusedRows);
        lane.tau.resize(kFusedRows);
    }
}

void FusedPeer::recover(ConstBatchView y, BatchView x, std::size_t index) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    Lane& lane = lanes_[index];
    for (std::size_t at = 0; at < y.rows; at += kFusedRows) {
        const std::size_t rows = std::min(kFusedRows, y.rows - at);
        for (AlignedBuffer<float>* buffer : {&lane.p2, &lane.r})
            std::fill_n(buffer->data(), rows * m_padded_, 0.0F);
        for (AlignedBuffer<float>* buffer : {&lane.x1, &lane.x2})
            std::fill_n(buffer->data(), rows * n_padded_, 0.0F);
        std::fill_n(lane.alive.begin(), rows, 0);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(y.data + (at + i) * m, m, &lane.y[i * m_padded_]);
        FusedSpace space{m,
                         m_padded_,
                         n,
                         n_padded_,
                         network_.plain,
                         network_.residual_threshold,
                         network_.delta,
                         a_.data(),
                         lane.y.data(),
                         lane.p1.data(),
                         lane.p2.data(),
                         lane.r.data(),
                         lane.x1.data(),
                         lane.x2.data(),
                         lane.support.data(),
                         lane.alive.data(),
                         lane.tau.data()};
        for (std::size_t k = 0; k < network_.layers; ++k)
            fused_layer(space,
                        {&weights_[k * n_padded_ * m], network_.theta[k], network_.beta[k],
                         network_.omega[k] / static_cast<float>(m)},
                        rows);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(space.x1 + i * n_padded_, n, x.data + (at + i) * n);
    }
}

}  // namespace pibinn::bench
