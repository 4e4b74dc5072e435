#include "model/device_parameters.hpp"

#include <numeric>
#include <vector>

namespace pibinn {

void make_effective(WeightKind kind, const DeviceParameters& latent, DeviceParameters& effective,
                    Backend& backend) {
    std::vector<std::size_t> layers(latent.layout().layers());
    std::iota(layers.begin(), layers.end(), std::size_t{1});
    make_effective(kind, latent, effective, layers, backend);
}

void make_effective(WeightKind kind, const DeviceParameters& latent, DeviceParameters& effective,
                    std::span<const std::size_t> layers, Backend& backend) {
    const ParameterLayout& layout = latent.layout();
    for (const std::size_t k : layers)
        backend.quantise(rules_of(kind).quantiser, layout.structure(k), latent.weights(k),
                         latent.scale(), effective.weights(k));
    // A sign of zero is +1 on both sides of a pair.
    for (const std::size_t k : layers)
        if (!effective.weights(k).empty() && layout.structure(k).is_complex())
            backend.copy_pairs(layout.structure(k), effective.weights(k));
    backend.copy(latent.scalars(), effective.scalars());
}

void make_effective(WeightKind kind, const ParameterStore& latent, ParameterStore& effective,
                    Backend& backend) {
    DeviceParameters result(effective.shared_layout(), backend);
    make_effective(kind, DeviceParameters(latent, backend), result, backend);
    result.download(effective.values());
}

}  // namespace pibinn
