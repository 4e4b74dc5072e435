#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/weights/weight_rules.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

struct ParameterSlice {
    std::string name;  ///< "weights.3", "theta.1", "scale"
    std::size_t offset = 0;
    std::size_t size = 0;
};

/// Where each trainable number of a network stands in one flat buffer: the weights of layer 1..K,
/// none for `tied`, then theta, gain (one per piece of each layer), step, beta, omega (one per
/// layer), local (what neighbours count, per layer), each where the network has them, then the
/// global scale, the cut of `polish` and the prior of `wiener` (one per site).
class ParameterLayout {
public:
    ParameterLayout(const NetworkSpec& spec, const Structure& structure);

    std::size_t layers() const { return weights_.size() - 1; }
    std::size_t size() const { return size_; }
    /// Numbers that are weights; they come first.
    std::size_t weights_size() const { return weights_.back(); }
    /// The structure of layer k = 1..K: the operator's, or dense for a fully connected network.
    const Structure& structure(std::size_t k) const {
        return k == 1 ? structures_.front() : structures_.back();
    }
    std::span<const ParameterSlice> slices() const { return slices_; }

    struct Range {
        std::size_t begin = 0;
        std::size_t size = 0;
    };
    Range weights(std::size_t k) const { return {weights_[k - 1], weights_[k] - weights_[k - 1]}; }
    /// One number per layer, or per piece of each layer; empty where the network has none.
    Range theta() const { return theta_; }
    Range gain() const { return gain_; }
    /// One number per layer; empty where the network has none.
    Range step() const { return step_; }
    Range beta() const { return beta_; }
    Range omega() const { return omega_; }
    Range scale() const { return scale_; }
    Range local() const { return local_; }  ///< some per layer
    Range cut() const { return cut_; }      ///< of `polish`; chosen, not trained
    Range prior() const { return prior_; }  ///< of `wiener`: the logarithm of each site's variance
    std::size_t halves() const { return halves_; }  ///< of a row: 2 where sites hold one of each
    /// All that are not weights.
    Range scalars() const { return {weights_size(), size_ - weights_size()}; }

private:
    std::vector<Structure> structures_;  ///< of the first layer, and of the others if they differ
    std::vector<std::size_t> weights_;   ///< offsets, K + 1 of them
    Range theta_, gain_, step_, beta_, omega_, local_, scale_, cut_, prior_;
    std::size_t halves_ = 1;
    std::vector<ParameterSlice> slices_;
    std::size_t size_ = 0;
};

/// The parameters of a network on the host, or anything of the same layout.
class ParameterStore {
public:
    explicit ParameterStore(std::shared_ptr<const ParameterLayout> layout)
        : layout_(std::move(layout)), values_(layout_->size()) {}

    const ParameterLayout& layout() const { return *layout_; }
    const std::shared_ptr<const ParameterLayout>& shared_layout() const { return layout_; }
    std::span<float> values() { return values_; }
    std::span<const float> values() const { return values_; }

    std::span<float> weights(std::size_t k) { return part(layout_->weights(k)); }
    std::span<const float> weights(std::size_t k) const { return part(layout_->weights(k)); }
    /// One per layer, or per piece of each layer; empty where the network has none.
    std::span<float> theta() { return part(layout_->theta()); }
    std::span<const float> theta() const { return part(layout_->theta()); }
    std::span<float> gain() { return part(layout_->gain()); }
    std::span<const float> gain() const { return part(layout_->gain()); }
    /// One per layer; empty where the network has none.
    std::span<float> step() { return part(layout_->step()); }
    std::span<const float> step() const { return part(layout_->step()); }
    std::span<float> beta() { return part(layout_->beta()); }
    std::span<const float> beta() const { return part(layout_->beta()); }
    std::span<float> omega() { return part(layout_->omega()); }
    std::span<const float> omega() const { return part(layout_->omega()); }
    std::span<float> local() { return part(layout_->local()); }
    std::span<const float> local() const { return part(layout_->local()); }
    std::span<float> prior() { return part(layout_->prior()); }
    std::span<const float> prior() const { return part(layout_->prior()); }
    /// The global scale; empty unless the weight kind has one.
    std::span<float> scale() { return part(layout_->scale()); }
    std::span<const float> scale() const { return part(layout_->scale()); }
    /// Empty without polish.
    std::span<float> cut() { return part(layout_->cut()); }
    std::span<const float> cut() const { return part(layout_->cut()); }

private:
    std::span<float> part(ParameterLayout::Range r) { return {values_.data() + r.begin, r.size}; }
    std::span<const float> part(ParameterLayout::Range r) const {
        return {values_.data() + r.begin, r.size};
    }

    std::shared_ptr<const ParameterLayout> layout_;
    AlignedBuffer<float> values_;
};

/// Scales that a layer of this structure stores beside its links.
std::size_t scales_per_layer(WeightKind kind, const Structure& structure);

}  // namespace pibinn
