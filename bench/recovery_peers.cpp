#include "bench/recovery_peers.hpp"

#include <algorithm>

#include "bench/dense_peer.hpp"
#include "bench/fused_peer.hpp"

namespace pibinn::bench {

namespace {

// More rows than that leave the caches, and no layout changes its rank any more.
constexpr std::size_t kLayoutRows = 512;

}  // namespace

RecoveryPeers::RecoveryPeers(const RecoveryCase& c, std::size_t rows, std::size_t threads,
                             ConstBatchView ours) {
    if (!peers_can_run(c.model)) return;
    network_ = network_of(c.model);
    const ConstBatchView sample = c.y.view().row_range(0, std::min(rows, kLayoutRows));
    const auto add = [&](const char* name, std::unique_ptr<RecoveryPeer> peer) {
        Batch x(ours.rows, ours.cols);
        for (std::size_t at = 0; at < ours.rows; at += rows) {
            const std::size_t to = std::min(at + rows, ours.rows);
            peer->recover(c.y.view().row_range(at, to), x.view().row_range(at, to), 0);
        }
        const double error = relative_difference({ours.data, x.size()}, x.values());
        entries_.push_back({name, std::move(peer), error});
    };
    add("openblas", std::make_unique<DensePeer>(network_, openblas_product, threads, sample));
    add("eigen", std::make_unique<DensePeer>(network_, eigen_product, threads, sample));
    if (network_.tied || network_.pieces > 0) return;
    add("float-fused", std::make_unique<FusedPeer>(network_, threads));
}

}  // namespace pibinn::bench
