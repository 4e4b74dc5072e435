// A checkpoint: what loads is a training that can go on, and ends in numbers.
#include "train/checkpoint.hpp"

#include "harness.hpp"
#include "safetensors_mutator.hpp"
#include "tiny_training.hpp"

using namespace pibinn;

namespace {

void go_on(Trainer& trainer, const TrainState& state) {
    trainer.restore(state);
    try {
        if (!trainer.done()) trainer.run_epoch();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::failed) throw;
        return;  // it diverged, and said so
    }
    for (const auto& layer : trainer.model().weights)
        fuzz::require(fuzz::finite(layer), "weights are finite");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::TinyTraining training;
    static const ParameterLayout layout = training.layout();
    return fuzz::survive([&] {
        const auto state = load_checkpoint(
            fuzz::as_file(data, size), fuzz::TinyTraining::identity(), layout, training.recipe());
        fuzz::require(state.has_value(), "there is a file");
        for (const auto* numbers : {&state->latent, &state->first, &state->second, &state->mean,
                                    &state->best, &state->pretrained})
            fuzz::require(fuzz::finite(*numbers), "numbers of a checkpoint are finite");
        go_on(training.trainer(), *state);
    });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
    return fuzz::mutate_file(data, size, most, seed, fuzz::mutate_safetensors);
}
