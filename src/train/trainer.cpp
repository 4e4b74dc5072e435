#include "train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"
#include "train/augment.hpp"
#include "train/certified.hpp"

namespace pibinn {

namespace {

// The test set is for people to look at, never for decisions; measuring it costs a third of a
// forward pass over the training set.
constexpr std::size_t kEpochsPerTest = 5;

// Of all epochs, in which hard thresholds that are to learn go over from soft ones.
constexpr double kSoftShare = 0.6;

using Clock = std::chrono::steady_clock;

}  // namespace

Trainer::Trainer(const Problem& problem, const NetworkSpec& spec, const Recipe& recipe,
                 std::uint64_t seed, Backend& backend, ThreadPool& pool)
    : problem_(problem),
      spec_(spec),
      recipe_(recipe),
      seed_(seed),
      backend_(backend),
      pool_(pool),
      network_(make_network(spec, problem.op, backend)),
      latent_(network_->layout()),
      effective_(network_->layout()),
      gradient_(network_->layout()),
      optimiser_(network_->layout()) {
    recipe_.validate(spec_);
    const std::size_t rows = problem_.train.x.rows();
    validation_rows_ =
        static_cast<std::size_t>(std::lround(recipe_.validation * static_cast<double>(rows)));
    if (recipe_.validation > 0 && validation_rows_ == 0)
        fail_usage(fmt::format("Recipe::validation {} of a training set of {} is no signal",
                               recipe_.validation, rows),
                   "raise Recipe::validation, or set it to 0");
    for (const Stage& stage : recipe_.stages)
        if (const std::size_t batch = stage.batch ? stage.batch : recipe_.batch;
            batch > rows - validation_rows_)
            fail_usage(fmt::format("a batch of {} from a training set of {}", batch,
                                   rows - validation_rows_),
                       "set Recipe::batch to the training set's size or less");
    for (const Stage& stage : recipe_.stages)
        if (stage.alpha > 0 && !certified_)
            certified_ = std::make_shared<const CertifiedSet>(problem_, spec_);
    state_.seconds.assign(recipe_.stages.size(), 0.0);
    initialise();
    begin_stage();
}

void Trainer::initialise() {
    NetworkSpec real = spec_;
    real.weights = WeightKind::real;
    const Model start = untrained_model(real, problem_.op, recipe_.theta);
    double magnitude = 0;
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        auto w = latent_.weights(k);
        if (spec_.architecture == Architecture::unrolled) {
            std::copy(start.weights[k - 1].begin(), start.weights[k - 1].end(), w.begin());
        } else {
            Stream stream(seed_, Purpose::weights, k);
            const double deviation =
                std::sqrt(2.0 / static_cast<double>(latent_.layout().structure(k).rows()));
            for (float& v : w) v = static_cast<float>(deviation * stream.normal());
        }
        for (float v : w) magnitude += std::abs(v);
    }
    std::fill(latent_.theta().begin(), latent_.theta().end(), static_cast<float>(recipe_.theta));
    for (float& scale : latent_.scale())
        scale =
            static_cast<float>(magnitude / static_cast<double>(latent_.layout().weights_size()));
}

void Trainer::begin_stage() {
    if (done()) return;
    optimiser_.restart();
    state_.best.clear();
    const Stage& stage = recipe_.stages[state_.stage];
    if (stage.scale > 0) latent_.scale()[0] = static_cast<float>(stage.scale);
}

WeightKind Trainer::kind_in(const Stage& stage) const {
    return stage.projection == Projection::lazy ? spec_.weights : WeightKind::real;
}

void Trainer::run_epoch() {
    const auto start = Clock::now();
    const Stage& stage = recipe_.stages[state_.stage];
    const std::size_t number = state_.history.size();
    const std::size_t count = problem_.train.x.rows() - validation_rows_;
    augment_epoch(recipe_.augment, problem_, count, seed_, number, epoch_set_, pool_);

    EpochRecord record;
    record.stage = state_.stage;
    record.epoch = number + 1;
    record.rate = rate_at(stage, state_.epoch);
    const std::size_t batch = stage.batch ? stage.batch : recipe_.batch;
    double loss = 0;
    const double soft = softening();
    network_->set_ramp(recipe_.ramp, soft);
    if (batch >= count) {
        // All rows in one batch: their order makes no difference, and to copy them took 3 % of the
        // epoch.
        loss = run_batch(stage, record.rate, epoch_set_.x.view().row_range(0, count),
                         epoch_set_.y.view().row_range(0, count));
    } else {
        const auto order = Stream(seed_, Purpose::shuffle, number).permutation(count);
        for (std::size_t at = 0; at < count; at += batch) {
            fill_batch(std::span(order).subspan(at, std::min(batch, count - at)));
            loss += run_batch(stage, record.rate, batch_x_, batch_y_);
        }
    }
    network_->set_ramp(0, 0);  // what is measured is what is stored
    record.loss = loss / static_cast<double>(count);
    project(stage, record.rate);
    const bool last = state_.epoch + 1 == stage.epochs;
    if (last) optimiser_.settle(stage, latent_);
    certify(stage);

    const bool measured = number == 0 || last || (number + 1) % kEpochsPerTest == 0;
    // Before thresholds are hard, the error of hard ones does not tell which epoch was best.
    if (measured && validation_rows_ > 0 && soft == 0) validate();
    if (last && !state_.best.empty())
        std::copy(state_.best.begin(), state_.best.end(), latent_.values().begin());
    record.test_nmse_db = measured ? test_nmse_db() : state_.history.back().test_nmse_db;
    state_.history.push_back(record);
    state_.seconds[state_.stage] += std::chrono::duration<double>(Clock::now() - start).count();
    ++state_.epoch;
    if (last) {
        state_.epoch = 0;
        ++state_.stage;
        begin_stage();
    }
}

double Trainer::softening() const {
    if (recipe_.ramp == 0) return 0;
    const double done = static_cast<double>(state_.history.size());
    return std::max(0.0, 1 - done / (kSoftShare * static_cast<double>(recipe_.epochs())));
}

void Trainer::fill_batch(std::span<const std::uint32_t> rows) {
    if (batch_x_.rows() != rows.size()) {
        batch_x_ = Batch(rows.size(), epoch_set_.x.cols());
        batch_y_ = Batch(rows.size(), epoch_set_.y.cols());
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto x = epoch_set_.x.row(rows[i]);
        const auto y = epoch_set_.y.row(rows[i]);
        std::copy(x.begin(), x.end(), batch_x_.row(i).begin());
        std::copy(y.begin(), y.end(), batch_y_.row(i).begin());
    }
}

double Trainer::run_batch(const Stage& stage, double rate, ConstBatchView x, ConstBatchView y) {
    row_weights_.resize(x.rows);
    for (std::size_t i = 0; i < x.rows; ++i) {
        double energy = 1;
        if (recipe_.loss == LossKind::nmse) {
            energy = 0;
            for (float v : x.row(i)) energy += double{v} * v;
        }
        row_weights_[i] =
            energy > 0 ? static_cast<float>(1.0 / (energy * static_cast<double>(x.rows))) : 0.0F;
    }
    make_effective(kind_in(stage), latent_, effective_, backend_);
    const RowLoss row_loss = recipe_.loss == LossKind::norm ? RowLoss::norm : RowLoss::squared;
    const double loss =
        network_->gradient(effective_, y, x, row_loss, row_weights_, gradient_, pool_);
    if (!(loss < 1e12)) fail_diverged(stage);
    if (stage.alpha > 0 && stage.trains_weights)
        certified_->add_penalty(effective_, stage.alpha, stage.alpha_weight, gradient_);
    straight_through(stage);
    optimiser_.step(stage, rate, gradient_, latent_, backend_);
    return loss * static_cast<double>(x.rows);
}

void Trainer::straight_through(const Stage& stage) {
    if (!stage.trains_scale) return;
    double sum = 0;
    for (std::size_t k = 1; k <= spec_.layers; ++k)
        sum += backend_.dot_signs(gradient_.weights(k), latent_.weights(k));
    gradient_.scale()[0] = static_cast<float>(sum);
}

void Trainer::project(const Stage& stage, double rate) {
    if (stage.projection != Projection::l1) return;
    const double share = static_cast<double>(state_.epoch + 1) / static_cast<double>(stage.epochs);
    const auto strength = static_cast<float>(rate * stage.l1_weight * share);
    for (std::size_t k = 1; k <= spec_.layers; ++k)
        move_towards_levels(latent_.scale()[0], strength, latent_.weights(k));
}

void Trainer::certify(const Stage& stage) {
    if (stage.alpha <= 0) return;
    make_effective(kind_in(stage), latent_, effective_, backend_);
    const WeightRules& rules = rules_of(kind_in(stage));
    if (rules.quantised() && stage.trains_weights)
        for (std::size_t k = 1; k <= spec_.layers; ++k)
            certified_->flip_signs(k, stage.alpha, effective_, latent_);
    if (rules.has_global_scale()) {
        latent_.scale()[0] *= static_cast<float>(certified_->factor(effective_, stage.alpha));
        return;
    }
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        const auto factor = static_cast<float>(certified_->factor(effective_, k, stage.alpha));
        for (float& w : latent_.weights(k)) w *= factor;
    }
}

double Trainer::test_nmse_db() {
    const Stage& stage = recipe_.stages[state_.stage];
    make_effective(kind_in(stage), latent_, effective_, backend_);
    return measure(problem_.test.x,
                   network_->recover_coefficients(effective_, problem_.test.y, pool_))
        .nmse_db;
}

void Trainer::validate() {
    make_effective(kind_in(recipe_.stages[state_.stage]), latent_, effective_, backend_);
    const auto held_out = [&](const Batch& rows) {
        return rows.view().row_range(rows.rows() - validation_rows_, rows.rows());
    };
    const Batch x = network_->recover_coefficients(effective_, held_out(problem_.train.y), pool_);
    const double error = measure(held_out(problem_.train.x), x).energy_nmse_db;
    if (!state_.best.empty() && error >= state_.best_error) return;
    state_.best.assign(latent_.values().begin(), latent_.values().end());
    state_.best_error = error;
}

Model Trainer::model() const {
    ParameterStore effective(network_->layout());
    make_effective(spec_.weights, latent_, effective, backend_);
    return model_of(spec_, problem_.op, effective);
}

double Trainer::alpha() const {
    if (!certified_) return 0;
    ParameterStore effective(network_->layout());
    make_effective(spec_.weights, latent_, effective, backend_);
    return certified_->alpha(effective);
}

TrainState Trainer::snapshot() const {
    TrainState state = state_;
    state.steps = optimiser_.steps();
    const auto copy = [](std::span<const float> values) {
        return std::vector<float>(values.begin(), values.end());
    };
    state.latent = copy(latent_.values());
    state.first = copy(optimiser_.first().values());
    state.second = copy(optimiser_.second().values());
    state.mean = copy(optimiser_.mean().values());
    return state;
}

void Trainer::restore(const TrainState& state) {
    ensure(state.latent.size() == latent_.values().size() && state.stage <= recipe_.stages.size(),
           "a state of another network");
    state_ = state;
    const auto copy = [](const std::vector<float>& from, std::span<float> to) {
        std::copy(from.begin(), from.end(), to.begin());
    };
    copy(state.latent, latent_.values());
    copy(state.first, optimiser_.first().values());
    copy(state.second, optimiser_.second().values());
    copy(state.mean, optimiser_.mean().values());
    optimiser_.set_steps(state.steps);
}

void Trainer::fail_diverged(const Stage& stage) const {
    // The first layer whose gradient is no longer a number is where it broke.
    std::size_t layer = 0;
    for (std::size_t k = spec_.layers; k >= 1; --k)
        if (!std::isfinite(backend_.squared_norm(gradient_.weights(k)))) layer = k;
    throw Error(
        ErrorKind::failed,
        fmt::format("training diverged in epoch {} (stage '{}', {})", state_.history.size() + 1,
                    stage.name, layer ? fmt::format("layer {}", layer) : "last layer"),
        "lower learning_rate or set clip in that stage");
}

}  // namespace pibinn
