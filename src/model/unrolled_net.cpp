#include "model/unrolled_net.hpp"

#include <algorithm>

#include "algebra/polish.hpp"

namespace pibinn {

UnrolledNet::UnrolledNet(const NetworkSpec& spec, const Operator& op, Backend& backend, PassUse use)
    : Network(spec, op, backend, use), operator_values_(op.values().begin(), op.values().end()) {}

void UnrolledNet::open_slots(std::size_t slots, std::size_t rows) {
    if (rows > pass_rows_) passes_.clear();
    pass_rows_ = std::max(rows, pass_rows_);
    while (passes_.size() < slots) {
        auto& slot = passes_.emplace_back();
        for (const Block& block : blocks())
            slot.push_back(backend_.unrolled_pass(
                block,
                std::span<const float>(operator_values_).subspan(block.first_link, block.links()),
                spec_.layers, pass_rows_, sites_, use_));
    }
}

LayerSettings UnrolledNet::settings() const {
    return {.activation = spec_.activation,
            .residual_threshold = spec_.update.residual_threshold,
            .momentum = spec_.update.momentum,
            .onsager = spec_.update.onsager,
            .centre = spec_.centre,
            .delta = static_cast<float>(spec_.delta),
            .ramp = ramp_,
            .softening = softening_};
}

void UnrolledNet::polish_rows(const Block& block, float cut, ConstBatchView y, BatchView x) const {
    Polish polish(block,
                  std::span<const float>(operator_values_).subspan(block.first_link, block.links()),
                  sites_.grouping, spec_.centre);
    const std::size_t together = sites_.grouping.rows;
    for (std::size_t i = 0; i < x.rows; i += together)
        polish.run(spec_.polish, cut, y.row_range(i, i + together), x.row_range(i, i + together));
}

void UnrolledNet::forward_rows(std::size_t slot, const DeviceParameters& effective,
                               ConstBatchView y, const Wanted& wanted) {
    float cut = 0;
    if (spec_.polish > 0) backend_.download(effective.cut(), {&cut, 1});
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        pass.start(y.col_range(block.row, block.row + block.rows));
        for (std::size_t k = 1; k <= spec_.layers; ++k) {
            pass.forward(k, settings(), effective.layer(k, block));
            BatchView to = wanted(k);
            if (to.rows == 0) continue;
            to = to.col_range(block.col, block.col + block.cols);
            pass.read_x(k, to);
            if (k == spec_.layers && spec_.polish > 0)
                polish_rows(block, cut, y.col_range(block.row, block.row + block.rows), to);
        }
    }
}

double UnrolledNet::gradient_rows(std::size_t slot, const DeviceParameters& effective,
                                  ConstBatchView y, ConstBatchView target, RowLoss loss,
                                  std::span<const float> weights, DeviceParameters& gradient,
                                  Into into, const LayerDone& layer_done) {
    forward_rows(slot, effective, y, [](std::size_t) { return BatchView(); });
    double total = 0;
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        total += pass.loss(loss, target.col_range(block.col, block.col + block.cols), weights);
        for (std::size_t k = spec_.layers; k >= 1; --k) {
            pass.backward(k, settings(), effective.layer(k, block), gradient.layer(k, block), into);
            if (b + 1 == blocks().size()) layer_done(k);
        }
    }
    return total;
}

}  // namespace pibinn
