#include "model/unrolled_net.hpp"

namespace pibinn {

UnrolledNet::UnrolledNet(const NetworkSpec& spec, const Operator& op, Backend& backend)
    : Network(spec, op, backend), operator_values_(op.values().begin(), op.values().end()) {}

void UnrolledNet::open_slots(std::size_t slots) {
    while (passes_.size() < slots) {
        auto& slot = passes_.emplace_back();
        for (const Block& block : blocks())
            slot.push_back(backend_.unrolled_pass(
                block,
                std::span<const float>(operator_values_).subspan(block.first_link, block.links()),
                spec_.layers, backend_.rows_per_pass()));
    }
}

LayerSettings UnrolledNet::settings() const {
    return {.activation = spec_.activation,
            .residual_threshold = spec_.update.residual_threshold,
            .momentum = spec_.update.momentum,
            .onsager = spec_.update.onsager,
            .delta = static_cast<float>(spec_.delta),
            .ramp = ramp_,
            .softening = softening_};
}

void UnrolledNet::forward_rows(std::size_t slot, const DeviceParameters& effective,
                               ConstBatchView y, const Wanted& wanted) {
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        pass.start(y.col_range(block.row, block.row + block.rows));
        for (std::size_t k = 1; k <= spec_.layers; ++k) {
            pass.forward(k, settings(), effective.layer(k, block));
            if (const BatchView to = wanted(k); to.rows > 0)
                pass.read_x(k, to.col_range(block.col, block.col + block.cols));
        }
    }
}

double UnrolledNet::gradient_rows(std::size_t slot, const DeviceParameters& effective,
                                  ConstBatchView y, ConstBatchView target, RowLoss loss,
                                  std::span<const float> weights, DeviceParameters& gradient,
                                  Into into) {
    forward_rows(slot, effective, y, [](std::size_t) { return BatchView(); });
    double total = 0;
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        total += pass.loss(loss, target.col_range(block.col, block.col + block.cols), weights);
        for (std::size_t k = spec_.layers; k >= 1; --k)
            pass.backward(k, settings(), effective.layer(k, block), gradient.layer(k, block), into);
    }
    return total;
}

}  // namespace pibinn
