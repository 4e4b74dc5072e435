#pragma once

#include "model/network.hpp"

namespace pibinn {

/// The baseline that knows no physics: m x n, then K - 1 matrices n x n.
class FullyConnectedNet final : public Network {
public:
    FullyConnectedNet(const NetworkSpec& spec, const Operator& op, Backend& backend, PassUse use);

protected:
    void forward_rows(std::size_t slot, const DeviceParameters& effective, ConstBatchView y,
                      const Wanted& wanted) override;
    double gradient_rows(std::size_t slot, const DeviceParameters& effective, ConstBatchView y,
                         ConstBatchView target, RowLoss loss, std::span<const float> weights,
                         DeviceParameters& gradient, Into into,
                         const LayerDone& layer_done) override;
    void open_slots(std::size_t slots, std::size_t rows) override;

private:
    /// All links of layer k.
    const Block& links(std::size_t k) const { return layout_->structure(k).parts()[0]; }

    std::vector<std::size_t> widths_;
    std::vector<std::unique_ptr<LinearPass>> passes_;
    std::size_t pass_rows_ = 0;  ///< that each has room for
};

}  // namespace pibinn
