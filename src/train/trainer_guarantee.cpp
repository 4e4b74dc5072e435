#include <algorithm>
#include <cmath>

#include "train/guarantee.hpp"
#include "train/trainer.hpp"

namespace pibinn {

namespace {

// An error that counts as none.
constexpr double kExactDb = -400;

}  // namespace

double Trainer::prove(const Stage& stage) {
    make_effective(kind_in(stage), latent_, effective_, backend_);
    ParameterStore latent = latent_.download();
    const double bound = guarantee_->project(effective_.download(), latent);
    latent_.upload(latent.values());
    return bound;
}

double Trainer::train_error_db(const Stage& stage) {
    make_effective(kind_in(stage), latent_, effective_, backend_);
    const Batch x = network_->recover_coefficients(effective_, problem_.train.y, pool_);
    double error = 0, energy = 0;
    for (std::size_t i = 0; i < x.rows(); ++i) {
        const auto truth = problem_.train.x.row(i);
        if (!guarantee_->holds(truth)) continue;
        for (std::size_t j = 0; j < truth.size(); ++j) {
            error += std::pow(double{x(i, j)} - truth[j], 2);
            energy += double{truth[j]} * truth[j];
        }
    }
    // Some number even where nothing is left of the error: checkpoints hold it.
    return error > 0 ? std::max(10 * std::log10(error / energy), kExactDb) : kExactDb;
}

void Trainer::require_guarantee() {
    if (!guarantee_ || recipe_.stages.front().guarantee) return;
    ParameterStore unused = latent_.download();
    guarantee_->construct(unused);
}

void Trainer::begin_guarantee() {
    const Stage& stage = recipe_.stages[state_.stage];
    const ParameterStore before = latent_.download();
    ParameterStore made = before;
    guarantee_->construct(made);
    // What was trained before may be as good.
    const double own = state_.stage > 0 ? prove(stage) : 0;
    const ParameterStore raised = latent_.download();
    latent_.upload(made.values());
    proven_ = prove(stage);
    if (state_.stage > 0 && own < proven_) {
        latent_.upload(raised.values());
        proven_ = own;
    }
    state_.best.resize(latent_.layout().size());
    latent_.download(state_.best);
    state_.best_error = train_error_db(stage);
}

void Trainer::keep_guarantee(const Stage& stage) {
    const double bound = prove(stage);
    const double error = train_error_db(stage);
    if (bound <= proven_ && error < state_.best_error) {
        proven_ = bound;
        state_.best_error = error;
        latent_.download(state_.best);
    } else {
        latent_.upload(state_.best);
    }
}

const SignalClass* Trainer::guaranteed_class() const {
    return guarantee_ ? &guarantee_->signals() : nullptr;
}

void Trainer::resume_guarantee() {
    if (!guarantee_) return;
    if (done() || !recipe_.stages[state_.stage].guarantee) return;
    const Stage& stage = recipe_.stages[state_.stage];
    const ParameterStore now = latent_.download();
    latent_.upload(state_.best);
    proven_ = prove(stage);
    latent_.upload(now.values());
}

}  // namespace pibinn
