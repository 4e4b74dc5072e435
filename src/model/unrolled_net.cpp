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

LayerScalars UnrolledNet::scalars(const ParameterStore& p, std::size_t k) const {
    LayerScalars s;
    s.activation = spec_.activation;
    s.residual_threshold = spec_.update.residual_threshold;
    s.momentum = spec_.update.momentum;
    s.onsager = spec_.update.onsager;
    s.delta = static_cast<float>(spec_.delta);
    s.ramp = ramp_;
    s.softening = softening_;
    if (!p.theta().empty()) s.theta = p.theta()[k - 1];
    if (!p.beta().empty()) s.beta = p.beta()[k - 1];
    if (!p.omega().empty()) s.omega = p.omega()[k - 1];
    return s;
}

void UnrolledNet::forward_rows(std::size_t slot, const ParameterStore& effective, ConstBatchView y,
                               const Emit& emit) {
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        pass.start(y.col_range(block.row, block.row + block.rows));
        for (std::size_t k = 1; k <= spec_.layers; ++k) {
            pass.forward(k, scalars(effective, k),
                         effective.weights(k).subspan(block.first_link, block.links()));
            emit(k, block.col, pass.x(k));
        }
    }
}

double UnrolledNet::gradient_rows(std::size_t slot, const ParameterStore& effective,
                                  ConstBatchView y, ConstBatchView target, RowLoss loss,
                                  std::span<const float> weights, ParameterStore& gradient,
                                  Into into) {
    forward_rows(slot, effective, y, [](std::size_t, std::size_t, ConstBatchView) {});
    double total = 0;
    for (std::size_t b = 0; b < blocks().size(); ++b) {
        const Block& block = blocks()[b];
        UnrolledPass& pass = *passes_[slot][b];
        total += pass.loss(loss, target.col_range(block.col, block.col + block.cols), weights);
        for (std::size_t k = spec_.layers; k >= 1; --k) {
            const auto links = [&](auto span) {
                return span.subspan(block.first_link, block.links());
            };
            const LayerScalarGradients g =
                pass.backward(k, scalars(effective, k), links(effective.weights(k)),
                              links(gradient.weights(k)), into);
            if (!gradient.theta().empty()) gradient.theta()[k - 1] += static_cast<float>(g.theta);
            if (!gradient.beta().empty()) gradient.beta()[k - 1] += static_cast<float>(g.beta);
            if (!gradient.omega().empty()) gradient.omega()[k - 1] += static_cast<float>(g.omega);
        }
    }
    return total;
}

}  // namespace pibinn
