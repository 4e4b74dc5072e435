#include "model/device_parameters.hpp"

namespace pibinn {

void make_effective(WeightKind kind, const DeviceParameters& latent, DeviceParameters& effective,
                    Backend& backend) {
    const ParameterLayout& layout = latent.layout();
    for (std::size_t k = 1; k <= layout.layers(); ++k)
        backend.quantise(rules_of(kind).quantiser, layout.structure(k), latent.weights(k),
                         latent.scale(), effective.weights(k));
    // A sign of zero is +1 on both sides of a pair.
    for (std::size_t k = 1; k <= layout.layers() && !effective.weights(k).empty(); ++k)
        if (layout.structure(k).is_complex())
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
