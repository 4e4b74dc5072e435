#pragma once

#include "model/network.hpp"

namespace pibinn {

/// The iterative solver as K layers. Blocks of the structure never meet: each is a small network of
/// its own, and they share only thresholds and scale.
class UnrolledNet final : public Network {
public:
    UnrolledNet(const NetworkSpec& spec, const Operator& op, Backend& backend, PassUse use);

protected:
    void forward_rows(std::size_t slot, const DeviceParameters& effective, ConstBatchView y,
                      const Wanted& wanted) override;
    double gradient_rows(std::size_t slot, const DeviceParameters& effective, ConstBatchView y,
                         ConstBatchView target, RowLoss loss, std::span<const float> weights,
                         DeviceParameters& gradient, Into into,
                         const LayerDone& layer_done) override;
    void open_slots(std::size_t slots, std::size_t rows) override;

private:
    /// The layout keeps the structure, and with it the pattern of a mask, alive.
    std::span<const Block> blocks() const { return layout_->structure(1).parts(); }
    LayerSettings settings() const;
    /// What follows the last layer; of numbers on the host.
    void polish_rows(const Block& block, float cut, ConstBatchView y, BatchView x) const;

    AlignedBuffer<float> operator_values_;
    std::vector<std::vector<std::unique_ptr<UnrolledPass>>> passes_;  ///< [slot][block]
    std::size_t pass_rows_ = 0;                                       ///< that each has room for
};

}  // namespace pibinn
