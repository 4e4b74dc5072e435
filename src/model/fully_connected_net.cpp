#include "model/fully_connected_net.hpp"

#include <algorithm>

namespace pibinn {

FullyConnectedNet::FullyConnectedNet(const NetworkSpec& spec, const Operator& op, Backend& backend,
                                     PassUse use)
    : Network(spec, op, backend, use), widths_(spec.layers + 1, op.cols()) {
    widths_[0] = op.rows();
}

void FullyConnectedNet::open_slots(std::size_t slots, std::size_t rows) {
    if (rows > pass_rows_) passes_.clear();
    pass_rows_ = std::max(rows, pass_rows_);
    while (passes_.size() < slots) passes_.push_back(backend_.linear_pass(widths_, pass_rows_));
}

void FullyConnectedNet::forward_rows(std::size_t slot, const DeviceParameters& effective,
                                     ConstBatchView y, const Wanted& wanted) {
    LinearPass& pass = *passes_[slot];
    pass.start(y);
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        pass.forward(k, spec_.activation, effective.layer(k, links(k)));
        if (const BatchView to = wanted(k); to.rows > 0) pass.read_x(k, to);
    }
}

double FullyConnectedNet::gradient_rows(std::size_t slot, const DeviceParameters& effective,
                                        ConstBatchView y, ConstBatchView target, RowLoss loss,
                                        std::span<const float> weights, DeviceParameters& gradient,
                                        Into into, const LayerDone& layer_done) {
    forward_rows(slot, effective, y, [](std::size_t) { return BatchView(); });
    LinearPass& pass = *passes_[slot];
    const double total = pass.loss(loss, target, weights);
    for (std::size_t k = spec_.layers; k >= 1; --k) {
        pass.backward(k, spec_.activation, effective.layer(k, links(k)),
                      gradient.layer(k, links(k)), into);
        layer_done(k);
    }
    return total;
}

}  // namespace pibinn
