#include "model/layer_owners.hpp"

#include "pibinn/error.hpp"

namespace pibinn {

LayerOwners::LayerOwners(std::shared_ptr<const ParameterLayout> layout, Communicator& ranks)
    : layout_(std::move(layout)), ranks_(&ranks), owners_(layout_->layers(), 0) {
    const auto all = static_cast<double>(layout_->weights_size());
    double after = 0;  // weights of the layers after k
    for (std::size_t k = owners_.size(); k >= 1 && all > 0; --k) {
        const auto own = static_cast<double>(layout_->weights(k).size);
        const double middle = (after + own / 2) / all;
        owners_[k - 1] = static_cast<std::size_t>(middle * static_cast<double>(ranks.size()));
        after += own;
    }
}

std::vector<std::size_t> LayerOwners::own() const {
    std::vector<std::size_t> layers;
    for (std::size_t k = 1; k <= owners_.size(); ++k)
        if (here(k)) layers.push_back(k);
    return layers;
}

ParameterLayout::Range LayerOwners::range_of(std::size_t rank) const {
    ParameterLayout::Range range;
    for (std::size_t k = 1; k <= owners_.size(); ++k) {
        if (of(k) != rank) continue;
        if (range.size == 0) range.begin = layout_->weights(k).begin;
        range.size += layout_->weights(k).size;
    }
    return range;
}

void LayerOwners::send(DeviceParameters& numbers, Backend& backend, bool to_all) const {
    if (!several() || layout_->weights_size() == 0) return;
    const std::span<float> all = backend.on_host(numbers.all());
    ensure(!all.empty(), "weights in host memory");
    const auto bytes_of = [&](std::size_t rank) {
        const ParameterLayout::Range range = range_of(rank);
        return std::as_writable_bytes(all.subspan(range.begin, range.size));
    };
    std::vector<std::span<const std::byte>> out(ranks_->size());
    std::vector<std::span<std::byte>> in(ranks_->size());
    for (std::size_t r = 0; r < ranks_->size(); ++r) {
        if (r == ranks_->rank()) continue;
        if (to_all || r == 0) out[r] = bytes_of(ranks_->rank());
        if (to_all || ranks_->first()) in[r] = bytes_of(r);
    }
    ranks_->exchange(out, in);
}

void LayerOwners::share(DeviceParameters& numbers, Backend& backend) const {
    send(numbers, backend, true);
}

void LayerOwners::gather(DeviceParameters& numbers, Backend& backend) const {
    send(numbers, backend, false);
}

void LayerOwners::share(std::span<double> of_layers) const {
    if (!several()) return;
    std::vector<double> all(of_layers.size() * ranks_->size());
    ranks_->all_gather(std::as_bytes(of_layers), std::as_writable_bytes(std::span(all)));
    for (std::size_t k = 1; k <= owners_.size(); ++k)
        of_layers[k - 1] = all[of(k) * of_layers.size() + k - 1];
}

}  // namespace pibinn
