#include "infer/cuda/layer_numbers.cuh"

#include <vector>

namespace pibinn::cuda {

LayerKinds kinds_of(const DeviceNetwork& network) {
    return {.layers = network.layers,
            .activation = network.activation,
            .pieces = static_cast<unsigned>(network.pieces),
            .residual_threshold = network.residual_threshold,
            .momentum = !network.beta.empty(),
            .onsager = !network.omega.empty(),
            .delta = network.delta};
}

DeviceArray<LayerNumbers> layer_numbers(const DeviceNetwork& network) {
    std::vector<LayerNumbers> layers(network.layers);
    const auto number = [](const std::vector<float>& values, std::size_t k, float otherwise) {
        return values.empty() ? otherwise : values[k];
    };
    for (std::size_t k = 0; k < layers.size(); ++k) {
        LayerNumbers& layer = layers[k];
        layer.beta = number(network.beta, k, 0);
        layer.omega = number(network.omega, k, 0);
        layer.step = number(network.step, k, 1);
        for (std::size_t j = 0; j < network.pieces && !network.theta.empty(); ++j) {
            layer.theta[j] = network.theta[k * network.pieces + j];
            layer.gain[j] = number(network.gain, k * network.pieces + j, 1);
        }
    }
    DeviceArray<LayerNumbers> there(layers.size());
    check(cudaMemcpy(there.data(), layers.data(), layers.size() * sizeof(LayerNumbers),
                     cudaMemcpyHostToDevice),
          "copying a network");
    return there;
}

}  // namespace pibinn::cuda
