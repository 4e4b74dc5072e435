#include "bench/fused_peer.hpp"

#include <algorithm>

#include "bench/fused_loop.hpp"

namespace pibinn::bench {

namespace {

std::size_t padded(std::size_t count) {
    return (count + kFusedLanes - 1) / kFusedLanes * kFusedLanes;
}

}  // namespace

FusedPeer::FusedPeer(const RecoveryNetwork& network, std::size_t workers)
    : network_(network),
      m_padded_(padded(network.m)),
      n_padded_(padded(network.n)),
      a_(network.n * m_padded_),
      weights_(network.layers * n_padded_ * network.m),
      workspaces_(workers) {
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
    for (Workspace& space : workspaces_) {
        for (AlignedBuffer<float>* buffer : {&space.y, &space.p1, &space.p2, &space.r})
            buffer->resize(kFusedRows * m_padded_);
        for (AlignedBuffer<float>* buffer : {&space.x1, &space.x2})
            buffer->resize(kFusedRows * n_padded_);
        space.support.resize(kFusedRows * n_padded_);
        space.alive.resize(kFusedRows);
        space.tau.resize(kFusedRows);
    }
}

void FusedPeer::recover(ConstBatchView y, BatchView x, std::size_t worker) {
    const std::size_t m = network_.m;
    const std::size_t n = network_.n;
    Workspace& space = workspaces_[worker];
    for (std::size_t at = 0; at < y.rows; at += kFusedRows) {
        const std::size_t rows = std::min(kFusedRows, y.rows - at);
        for (AlignedBuffer<float>* buffer : {&space.p2, &space.r})
            std::fill_n(buffer->data(), rows * m_padded_, 0.0F);
        for (AlignedBuffer<float>* buffer : {&space.x1, &space.x2})
            std::fill_n(buffer->data(), rows * n_padded_, 0.0F);
        std::fill_n(space.alive.begin(), rows, 0);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(y.data + (at + i) * m, m, &space.y[i * m_padded_]);
        FusedSpace rows_space{.m = m,
                              .m_padded = m_padded_,
                              .n = n,
                              .n_padded = n_padded_,
                              .plain = network_.plain,
                              .residual_threshold = network_.residual_threshold,
                              .delta = network_.delta,
                              .a = a_.data(),
                              .y = space.y.data(),
                              .p1 = space.p1.data(),
                              .p2 = space.p2.data(),
                              .r = space.r.data(),
                              .x1 = space.x1.data(),
                              .x2 = space.x2.data(),
                              .support = space.support.data(),
                              .alive = space.alive.data(),
                              .tau = space.tau.data()};
        for (std::size_t k = 0; k < network_.layers; ++k)
            fused_layer(rows_space,
                        {&weights_[k * n_padded_ * m], network_.theta[k], network_.beta[k],
                         network_.omega[k] / static_cast<float>(m)},
                        rows);
        for (std::size_t i = 0; i < rows; ++i)
            std::copy_n(rows_space.x1 + i * n_padded_, n, x.data + (at + i) * n);
    }
}

}  // namespace pibinn::bench
