#include "model/parameters.hpp"

#include "model/network_sites.hpp"

namespace pibinn {

ParameterLayout::ParameterLayout(const NetworkSpec& spec, const Structure& structure) {
    const auto add = [&](std::string name, std::size_t count) {
        slices_.push_back({std::move(name), size_, count});
        size_ += count;
    };
    if (spec.architecture == Architecture::unrolled)
        structures_ = {structure};
    else
        structures_ = {Structure::dense(structure.rows(), structure.cols()),
                       Structure::dense(structure.cols(), structure.cols())};
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        weights_.push_back(size_);
        if (!spec.tied()) add("weights." + std::to_string(k), this->structure(k).links());
    }
    weights_.push_back(size_);
    const auto add_per_layer = [&](const std::string& name, std::size_t each) {
        const Range range{size_, each * spec.layers};
        for (std::size_t k = 1; k <= spec.layers && each > 0; ++k)
            add(name + "." + std::to_string(k), each);
        return range;
    };
    theta_ = add_per_layer("theta", spec.thresholds_per_layer());
    gain_ = add_per_layer("gain", spec.has_gains() ? spec.pieces : 0);
    step_ = add_per_layer("step", spec.update.step);
    beta_ = add_per_layer("beta", spec.update.momentum);
    omega_ = add_per_layer("omega", spec.update.onsager);
    local_ = add_per_layer("local", spec.local_per_layer());
    scale_ = {size_, rules_of(spec.weights).has_global_scale() ? std::size_t{1} : std::size_t{0}};
    if (scale_.size) add("scale", 1);
    cut_ = {size_, spec.polish > 0 ? std::size_t{1} : std::size_t{0}};
    if (cut_.size) add("cut", 1);
    halves_ = sites_of(spec, structure).grouping.halves;
    prior_ = {size_, spec.has_prior() ? structure.cols() / structure.repeat() / halves_ : 0};
    if (prior_.size) add("prior", prior_.size);
}

std::size_t scales_per_layer(WeightKind kind, const Structure& structure) {
    const Quantiser::Scale scale = rules_of(kind).quantiser.scale;
    if (scale == Quantiser::Scale::none || scale == Quantiser::Scale::global) return 0;
    std::size_t runs = 0;
    for_each_scale_run(scale, structure, [&](std::size_t, std::size_t) { ++runs; });
    return runs;
}

}  // namespace pibinn
