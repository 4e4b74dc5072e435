// A model file, which holds metadata in JSON and tensors.
#include "pibinn/model.hpp"
#include "harness.hpp"
#include "model/model_parameters.hpp"
#include "pibinn/calibration.hpp"
#include "pibinn/certificate.hpp"
#include "safetensors_mutator.hpp"

using namespace pibinn;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz::survive([&] {
        const Model model = Model::load(fuzz::as_file(data, size));
        for (const auto& layer : model.weights)
            fuzz::require(fuzz::finite(layer), "weights are finite");
        for (const auto* numbers : {&model.theta, &model.gain, &model.step, &model.beta,
                                    &model.omega, &model.local, &model.cut, &model.prior})
            fuzz::require(fuzz::finite(*numbers), "numbers of every layer are finite");
        fuzz::require(fuzz::finite(model.op.values()), "the operator is finite");
        fuzz::require(model.weights.size() == (model.spec.tied() ? 0 : model.spec.layers),
                      "weights of every layer");
        require_fitting(model);
        count_bits(model);
        link_share(model.spec, model.op.structure());
        attached_certificate(model);
        attached_calibration(model);
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_safetensors);
}
