#include "train/start.hpp"
#include "train/trainer.hpp"

namespace pibinn {

namespace {

// The thresholds of a stage's first network were learned with other weights. Where they do not hold
// back steps of the scale that is best otherwise, each of twenty layers amplifies the error of the
// one before: one-bit weights, plain update, one signal entry in a hundred. Training comes back
// from errors far above those of zero, and a scale no lower than needed is best: at density 0.01
// and 20 layers 0.14 diverges, 0.126, 0.113, 0.1 and 0.07 end at -22.9, -22.1, -21.4 and -19.4 dB.
constexpr double kTamed = 1e7;  // energy of the error, relative to the signals
constexpr double kLowered = 0.9;
constexpr int kMostLowered = 20;
constexpr std::size_t kStartingSignals = 250;

}  // namespace

void Trainer::initialise() {
    ParameterStore start = starting_parameters(spec_, problem_.op, recipe_, seed_);
    if (spec_.has_prior()) start_prior(problem_.train.x, start);
    latent_.upload(start.values());
}

void Trainer::begin_stage() {
    if (done()) return;
    optimiser_.restart();
    state_.best.clear();
    const Stage& stage = recipe_.stages[state_.stage];
    if (stage.guarantee)
        begin_guarantee();
    else if (stage.scale > 0)
        backend_.fill(static_cast<float>(stage.scale), latent_.scale());
    if (stage.lower_scale) lower_scale(stage);
}

double Trainer::starting_error(const Stage& stage) {
    make_effective(kind_in(stage), latent_, effective_, backend_);
    const DataSet signals = rows_->first(kStartingSignals);
    const Batch x = network_->recover_coefficients(effective_, signals.y, pool_);
    double error = 0, energy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double truth = signals.x.values()[i];
        error += (x.values()[i] - truth) * (x.values()[i] - truth);
        energy += truth * truth;
    }
    return energy > 0 ? error / energy : 0;
}

void Trainer::lower_scale(const Stage& stage) {
    double scale = stage.scale;
    for (int tries = 0; tries < kMostLowered; ++tries) {
        if (starting_error(stage) <= kTamed) return;
        scale *= kLowered;
        backend_.fill(static_cast<float>(scale), latent_.scale());
    }
}

}  // namespace pibinn
