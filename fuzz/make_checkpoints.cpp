#include <limits>

#include "core/file.hpp"
#include "data/safetensors.hpp"
#include "make_corpus.hpp"
#include "tiny_training.hpp"
#include "train/checkpoint.hpp"

namespace pibinn::fuzz {

void make_checkpoints(const std::filesystem::path& f) {
    TinyTraining training;
    const auto save = [&](const char* name, TrainState state,
                          const std::string& identity = TinyTraining::identity()) {
        state.seconds.assign(state.seconds.size(), 0);  // the same bytes in every run
        save_checkpoint(place(f, name), state, identity);
    };
    Trainer& trainer = training.trainer();
    save("corpus/checkpoint/start", trainer.snapshot());
    trainer.run_epoch();
    save("corpus/checkpoint/first", trainer.snapshot());
    trainer.run_epoch();
    trainer.run_epoch();
    const TrainState state = trainer.snapshot();
    save("corpus/checkpoint/third", state);
    trainer.run_epoch();
    save("corpus/checkpoint/done", trainer.snapshot());

    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    TrainState changed = state;
    changed.latent.back() = nan;
    save("findings/checkpoint/nan-scale", changed);
    changed.latent.back() = -5;
    save("findings/checkpoint/negative-scale", changed);
    changed = state;
    changed.latent.front() = nan;
    save("findings/checkpoint/nan-weight", changed);
    changed = state;
    changed.second.front() = -1;
    save("findings/checkpoint/negative-moment", changed);

    changed = state;
    changed.pretrained.front() = nan;
    save("findings/checkpoint/nan-pretrained", changed);

    const std::string nested = R"({"a":)" + std::string(5500, '[') + std::string(5500, ']') + "}";
    save("findings/checkpoint/deep-identity", state, nested);
}

}  // namespace pibinn::fuzz
