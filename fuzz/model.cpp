// A model file, which holds metadata in JSON and tensors.
#include "pibinn/model.hpp"
#include "harness.hpp"
#include "safetensors_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const Model model = Model::load(fuzz::as_file(data, size));
        for (const auto& layer : model.weights)
            fuzz::require(fuzz::finite(layer), "weights are finite");
        fuzz::require(fuzz::finite(model.theta), "thresholds are finite");
        fuzz::require(fuzz::finite(model.op.values()), "the operator is finite");
        fuzz::require(model.weights.size() == (model.spec.tied() ? 0 : model.spec.layers),
                      "weights of every layer");
        count_bits(model);
        link_share(model.spec, model.op.structure());
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_safetensors);
}
