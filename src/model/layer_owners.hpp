#pragma once

#include <span>
#include <vector>

#include "model/device_parameters.hpp"
#include "pibinn/communicator.hpp"

namespace pibinn {

/// Which rank steps the weights of which layers. Whole layers, since the gradient of each is
/// clipped by its own norm; about as many weights per rank. The last layers are those of rank 0:
/// their gradient is done first, and has the time of all others for its way from the last rank of
/// the sum.
class LayerOwners {
public:
    /// All layers are here.
    explicit LayerOwners(std::shared_ptr<const ParameterLayout> layout)
        : LayerOwners(std::move(layout), alone()) {}
    /// Keeps the ranks.
    LayerOwners(std::shared_ptr<const ParameterLayout> layout, Communicator& ranks);

    /// Of layer k = 1..K.
    std::size_t of(std::size_t k) const { return owners_[k - 1]; }
    bool here(std::size_t k) const { return of(k) == ranks_->rank(); }
    bool several() const { return ranks_->several(); }
    /// The layers that are here, in their order.
    std::vector<std::size_t> own() const;

    /// All ranks: the weights that every layer has at its owner, on all ranks or on the first one.
    void share(DeviceParameters& numbers, Backend& backend) const;
    void gather(DeviceParameters& numbers, Backend& backend) const;
    /// All ranks: one number per layer, as its owner has it.
    void share(std::span<double> of_layers) const;

private:
    ParameterLayout::Range range_of(std::size_t rank) const;
    void send(DeviceParameters& numbers, Backend& backend, bool to_all) const;

    std::shared_ptr<const ParameterLayout> layout_;
    Communicator* ranks_;
    std::vector<std::size_t> owners_;
};

}  // namespace pibinn
