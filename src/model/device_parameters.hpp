#pragma once

#include <memory>

#include "algebra/backend.hpp"
#include "model/parameters.hpp"

namespace pibinn {

/// The parameters of a network where its backend keeps numbers. ParameterStore is the same on the
/// host.
class DeviceParameters {
public:
    /// All zero. The backend must outlive it.
    DeviceParameters(std::shared_ptr<const ParameterLayout> layout, Backend& backend)
        : layout_(std::move(layout)),
          backend_(&backend),
          buffer_(backend.allocate(layout_->size())) {}
    DeviceParameters(const ParameterStore& values, Backend& backend)
        : DeviceParameters(values.shared_layout(), backend) {
        upload(values.values());
    }

    const ParameterLayout& layout() const { return *layout_; }

    void upload(std::span<const float> values) { backend_->upload(values, all()); }
    void download(std::span<float> values) const { backend_->download(all(), values); }
    ParameterStore download() const {
        ParameterStore values(layout_);
        download(values.values());
        return values;
    }

    BufferView all() { return range<BufferView>(*buffer_, {0, layout_->size()}); }
    ConstBufferView all() const { return range<ConstBufferView>(*buffer_, {0, layout_->size()}); }
    BufferView weights(std::size_t k) { return range<BufferView>(*buffer_, layout_->weights(k)); }
    ConstBufferView weights(std::size_t k) const {
        return range<ConstBufferView>(*buffer_, layout_->weights(k));
    }
    /// One number per layer; empty where the network has none.
    BufferView theta() { return range<BufferView>(*buffer_, layout_->theta()); }
    BufferView gain() { return range<BufferView>(*buffer_, layout_->gain()); }
    BufferView step() { return range<BufferView>(*buffer_, layout_->step()); }
    BufferView beta() { return range<BufferView>(*buffer_, layout_->beta()); }
    BufferView omega() { return range<BufferView>(*buffer_, layout_->omega()); }
    BufferView local() { return range<BufferView>(*buffer_, layout_->local()); }
    BufferView prior() { return range<BufferView>(*buffer_, layout_->prior()); }
    /// The global scale; empty unless the weight kind has one.
    BufferView scale() { return range<BufferView>(*buffer_, layout_->scale()); }
    ConstBufferView scale() const { return range<ConstBufferView>(*buffer_, layout_->scale()); }
    ConstBufferView cut() const { return range<ConstBufferView>(*buffer_, layout_->cut()); }
    /// All that are not weights.
    BufferView scalars() { return range<BufferView>(*buffer_, layout_->scalars()); }
    ConstBufferView scalars() const { return range<ConstBufferView>(*buffer_, layout_->scalars()); }

    /// What a pass needs of layer k = 1..K; the weights are those of one block.
    LayerGradients layer(std::size_t k, const Block& block) {
        return numbers_of<BufferView>(*buffer_, k, block);
    }
    LayerParameters layer(std::size_t k, const Block& block) const {
        return numbers_of<ConstBufferView>(*buffer_, k, block);
    }

private:
    template <class View, class B>
    static View range(B& buffer, ParameterLayout::Range r) {
        return {&buffer, r.begin, r.size};
    }
    template <class View, class B>
    BasicLayerNumbers<View> numbers_of(B& buffer, std::size_t k, const Block& block) const {
        const auto of_layer = [&](ParameterLayout::Range r) {
            const std::size_t each = r.size / layout_->layers();
            return each == 0 ? View{} : View{&buffer, r.begin + (k - 1) * each, each};
        };
        const View weights = range<View>(buffer, layout_->weights(k));
        const View prior = range<View>(buffer, layout_->prior());
        return {weights.empty() ? weights : weights.part(block.first_link, block.links()),
                of_layer(layout_->theta()),
                of_layer(layout_->gain()),
                of_layer(layout_->step()),
                of_layer(layout_->beta()),
                of_layer(layout_->omega()),
                of_layer(layout_->local()),
                prior.empty()
                    ? prior
                    : prior.part(block.col / layout_->halves(), block.cols / layout_->halves())};
    }

    std::shared_ptr<const ParameterLayout> layout_;
    Backend* backend_;
    std::unique_ptr<Buffer> buffer_;
};

/// Latent weights to effective ones; everything else is copied.
void make_effective(WeightKind kind, const DeviceParameters& latent, DeviceParameters& effective,
                    Backend& backend);
/// The same of some layers, and of everything else.
void make_effective(WeightKind kind, const DeviceParameters& latent, DeviceParameters& effective,
                    std::span<const std::size_t> layers, Backend& backend);
/// The same for numbers on the host.
void make_effective(WeightKind kind, const ParameterStore& latent, ParameterStore& effective,
                    Backend& backend);

}  // namespace pibinn
