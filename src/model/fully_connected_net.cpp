#include "model/fully_connected_net.hpp"

namespace pibinn {

FullyConnectedNet::FullyConnectedNet(const NetworkSpec& spec, const Operator& op, Backend& backend)
    : Network(spec, op, backend), widths_(spec.layers + 1, op.cols()) {
    widths_[0] = op.rows();
}

void FullyConnectedNet::open_slots(std::size_t slots) {
    while (passes_.size() < slots)
        passes_.push_back(backend_.linear_pass(widths_, backend_.rows_per_pass()));
}

void FullyConnectedNet::forward_rows(std::size_t slot, const ParameterStore& effective,
                                     ConstBatchView y, const Emit& emit) {
    LinearPass& pass = *passes_[slot];
    pass.start(y);
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        const float theta = effective.theta().empty() ? 0.0F : effective.theta()[k - 1];
        pass.forward(k, spec_.activation, theta, effective.weights(k));
        emit(k, 0, pass.x(k));
    }
}

double FullyConnectedNet::gradient_rows(std::size_t slot, const ParameterStore& effective,
                                        ConstBatchView y, ConstBatchView target, RowLoss loss,
                                        std::span<const float> weights, ParameterStore& gradient,
                                        Into into) {
    forward_rows(slot, effective, y, [](std::size_t, std::size_t, ConstBatchView) {});
    LinearPass& pass = *passes_[slot];
    const double total = pass.loss(loss, target, weights);
    for (std::size_t k = spec_.layers; k >= 1; --k) {
        const double dtheta =
            pass.backward(k, spec_.activation, effective.weights(k), gradient.weights(k), into);
        if (!gradient.theta().empty()) gradient.theta()[k - 1] += static_cast<float>(dtheta);
    }
    return total;
}

}  // namespace pibinn
