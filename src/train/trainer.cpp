#include "train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/work_clock.hpp"
#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"
#include "train/certified.hpp"
#include "train/guarantee.hpp"

namespace pibinn {

namespace {

// The test set is for people to look at, never for decisions; measuring it costs a third of a
// forward pass over the training set.
constexpr std::size_t kEpochsPerTest = 5;

// Of all epochs, in which hard thresholds that are to learn go over from soft ones.
constexpr double kSoftShare = 0.6;

// Times the loss of the zero estimate: nothing comes back from there.
constexpr double kDiverged = 1e10;

/// What the error of a signal, or its norm, is divided by.
double loss_unit(LossKind loss, double energy, double mean_energy) {
    switch (loss) {
        case LossKind::squared:
        case LossKind::norm:
            return 1;
        case LossKind::nmse:
            return energy;
        case LossKind::energy:
        case LossKind::log:
            return mean_energy;
        case LossKind::log_norm:
            return std::pow(mean_energy, double{kTempered} / 2);
    }
    return 1;
}

std::unique_ptr<Network> shared_network(const NetworkSpec& spec, const Operator& op,
                                        Backend& backend, Communicator& ranks) {
    std::unique_ptr<Network> network = make_network(spec, op, backend);
    network->share(ranks);
    return network;
}

}  // namespace

bool trains_on_parts(const NetworkSpec& spec, const Recipe& recipe) {
    return !spec.has_prior() && augments_rows(recipe.augment) &&
           std::none_of(recipe.stages.begin(), recipe.stages.end(),
                        [](const Stage& stage) { return stage.alpha > 0 || stage.guarantee; });
}

Trainer::Trainer(const Problem& problem, const NetworkSpec& spec, const Recipe& recipe,
                 std::uint64_t seed, Backend& backend, ThreadPool& pool, Communicator& ranks)
    : problem_(problem),
      spec_(spec),
      recipe_(recipe),
      seed_(seed),
      backend_(backend),
      pool_(pool),
      ranks_(ranks),
      network_(shared_network(spec, problem.op, backend, ranks)),
      latent_(network_->layout(), backend),
      effective_(network_->layout(), backend),
      gradient_(network_->layout(), backend),
      optimiser_(network_->layout(), backend, network_->owners()) {
    recipe_.validate(spec_);
    const std::size_t rows = problem_.all_train_rows();
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
    rows_ = std::make_unique<TrainingRows>(problem_, rows - validation_rows_, ranks_);
    ensure(!rows_->in_parts() || trains_on_parts(spec_, recipe_), "a training on parts of a set");
    for (const Stage& stage : recipe_.stages)
        if (stage.alpha > 0 && !certified_)
            certified_ = std::make_shared<const CertifiedSet>(problem_, spec_);
    for (const Stage& stage : recipe_.stages)
        if (stage.guarantee && !guarantee_)
            guarantee_ =
                std::make_shared<Guarantee>(recipe_.guarantee, problem_.op, spec_, seed_, pool_);
    state_.seconds.assign(recipe_.stages.size(), 0.0);
    initialise();
    require_guarantee();
    begin_stage();
}

bool Trainer::ends_float_stages(const Stage& stage) const {
    return stage.projection == Projection::none && state_.stage + 1 < recipe_.stages.size() &&
           recipe_.stages[state_.stage + 1].projection != Projection::none;
}

WeightKind Trainer::kind_in(const Stage& stage) const {
    return stage.projection == Projection::lazy ? spec_.weights : WeightKind::real;
}

void Trainer::run_epoch() {
    const double start = work_seconds();
    const Stage& stage = recipe_.stages[state_.stage];
    const std::size_t number = state_.history.size();
    const std::size_t count = rows_->trained();
    rows_->begin_epoch(recipe_.augment, seed_, number, pool_);

    EpochRecord record;
    record.stage = state_.stage;
    record.epoch = number + 1;
    record.rate = rate_at(stage, state_.epoch);
    const std::size_t batch = stage.batch ? stage.batch : recipe_.batch;
    double loss = 0;
    const double soft = softening();
    network_->set_ramp(recipe_.ramp, soft);
    if (batch >= count) {
        // All rows in one batch: their order makes no difference.
        std::vector<std::uint32_t> rows(count);
        std::iota(rows.begin(), rows.end(), 0U);
        loss = run_batch(stage, record.rate, rows, rows_->whole(*network_, pool_));
    } else {
        const auto order = Stream(seed_, Purpose::shuffle, number).permutation(count);
        for (std::size_t at = 0; at < count; at += batch) {
            const auto rows = std::span(order).subspan(at, std::min(batch, count - at));
            loss += run_batch(stage, record.rate, rows, rows_->batch(rows, *network_, pool_));
        }
    }
    network_->set_ramp(0, 0);  // what is measured is what is stored
    record.loss = loss / static_cast<double>(count);
    share_latent();
    project(stage, record.rate);
    const bool last = state_.epoch + 1 == stage.epochs;
    if (last) optimiser_.settle(stage, latent_);
    certify(stage);
    if (stage.guarantee) keep_guarantee(stage);
    if (!std::isfinite(backend_.squared_norm(latent_.all()))) fail_diverged(stage);

    const bool measured = number == 0 || last || (number + 1) % kEpochsPerTest == 0;
    // Before thresholds are hard, the error of hard ones does not tell which epoch was best.
    if (measured && validation_rows_ > 0 && soft == 0 && !stage.guarantee) validate();
    if (last && !state_.best.empty()) latent_.upload(state_.best);
    // Thresholds that are still soft make no network that could be stored.
    if (last && soft == 0 && ends_float_stages(stage)) {
        state_.pretrained.resize(latent_.layout().size());
        latent_.download(state_.pretrained);
    }
    record.test_nmse_db = measured ? test_nmse_db() : state_.history.back().test_nmse_db;
    state_.history.push_back(record);
    state_.seconds[state_.stage] += work_seconds() - start;
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

double Trainer::run_batch(const Stage& stage, double rate, std::span<const std::uint32_t> rows,
                          const BatchPart& part) {
    const auto count = static_cast<double>(rows.size());
    row_weights_.resize(rows.size());
    double mean_energy = 0;
    for (const std::uint32_t row : rows) mean_energy += rows_->energies()[row] / count;
    const RowLoss row_loss = recipe_.loss == LossKind::norm       ? RowLoss::norm
                             : recipe_.loss == LossKind::log_norm ? RowLoss::tempered
                                                                  : RowLoss::squared;
    const double power = row_loss == RowLoss::norm       ? 1
                         : row_loss == RowLoss::tempered ? double{kTempered}
                                                         : 2;
    const bool logarithm = recipe_.loss == LossKind::log || recipe_.loss == LossKind::log_norm;
    double zero_loss = 0;  // of the zero estimate
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double energy = rows_->energies()[rows[i]];
        const double share = loss_unit(recipe_.loss, energy, mean_energy);
        row_weights_[i] = share > 0 ? static_cast<float>(1.0 / (share * count)) : 0.0F;
        // A network that is made for a class of signals may answer to others with anything.
        if (stage.guarantee && !guarantee_->holds(rows_->signal(rows[i]))) row_weights_[i] = 0;
        zero_loss += row_weights_[i] * std::pow(energy, power / 2);
    }
    refresh_effective(stage);
    const double loss =
        network_->gradient(effective_, part, row_loss, row_weights_, gradient_, pool_);
    if (!(loss <= kDiverged * std::max(zero_loss, 1e-30))) fail_diverged(stage);
    if (logarithm && loss > 0) scale_gradient(static_cast<float>(1 / loss));
    if (stage.alpha > 0 && stage.trains_weights) add_penalty(stage);
    optimiser_.step(stage, rate, gradient_, latent_);
    own_stepped_ = own_stepped_ || (network_->owners().several() && stage.trains_weights);
    return loss * count;
}

void Trainer::refresh_effective(const Stage& stage) {
    const LayerOwners& owners = network_->owners();
    if (!own_stepped_) {
        make_effective(kind_in(stage), latent_, effective_, backend_);
        return;
    }
    // Passes need no latent weights, which stay where they are until the epoch ends.
    make_effective(kind_in(stage), latent_, effective_, owners.own(), backend_);
    owners.share(effective_, backend_);
}

void Trainer::share_latent() {
    if (own_stepped_) network_->owners().share(latent_, backend_);
    own_stepped_ = false;
}

void Trainer::scale_gradient(float factor) {
    for (const std::size_t k : network_->owners().own())
        backend_.multiply(factor, gradient_.weights(k));
    backend_.multiply(factor, gradient_.scalars());
}

void Trainer::add_penalty(const Stage& stage) {
    ParameterStore gradient = gradient_.download();
    certified_->add_penalty(effective_.download(), stage.alpha, stage.alpha_weight, gradient);
    gradient_.upload(gradient.values());
}

void Trainer::project(const Stage& stage, double rate) {
    if (stage.projection != Projection::l1) return;
    const double share = static_cast<double>(state_.epoch + 1) / static_cast<double>(stage.epochs);
    const auto strength = static_cast<float>(rate * stage.l1_weight * share);
    for (std::size_t k = 1; k <= spec_.layers; ++k)
        backend_.move_towards_levels(latent_.scale(), strength, latent_.weights(k));
}

void Trainer::certify(const Stage& stage) {
    if (stage.alpha <= 0) return;
    make_effective(kind_in(stage), latent_, effective_, backend_);
    ParameterStore effective = effective_.download();
    ParameterStore latent = latent_.download();
    const WeightRules& rules = rules_of(kind_in(stage));
    if (rules.quantised() && stage.trains_weights)
        for (std::size_t k = 1; k <= spec_.layers; ++k)
            certified_->flip_signs(k, stage.alpha, effective, latent);
    latent_.upload(latent.values());
    if (rules.has_global_scale()) {
        backend_.multiply(static_cast<float>(certified_->factor(effective, stage.alpha)),
                          latent_.scale());
        return;
    }
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        const auto factor = static_cast<float>(certified_->factor(effective, k, stage.alpha));
        backend_.multiply(factor, latent_.weights(k));
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
    const BatchPart held_out = rows_->held_out(*network_, pool_);
    const Batch x = network_->recover_on_first(effective_, held_out, pool_);
    double error = 0;
    if (ranks_.first()) {
        const ConstBatchView all = problem_.train.x;
        error = measure(all.row_range(all.rows - validation_rows_, all.rows), x).energy_nmse_db;
    }
    ranks_.broadcast(std::as_writable_bytes(std::span(&error, 1)), 0);
    if (!state_.best.empty() && error >= state_.best_error) return;
    state_.best.resize(latent_.layout().size());
    latent_.download(state_.best);
    state_.best_error = error;
}

Model Trainer::model() const {
    DeviceParameters effective(network_->layout(), backend_);
    make_effective(spec_.weights, latent_, effective, backend_);
    return model_of(spec_, problem_.op, effective.download());
}

std::optional<Model> Trainer::pretrained() const {
    if (state_.pretrained.empty()) return std::nullopt;
    ParameterStore numbers(network_->layout());
    std::copy(state_.pretrained.begin(), state_.pretrained.end(), numbers.values().begin());
    NetworkSpec real = spec_;
    real.weights = WeightKind::real;
    return model_of(real, problem_.op, numbers);
}

double Trainer::alpha() const {
    if (!certified_) return 0;
    DeviceParameters effective(network_->layout(), backend_);
    make_effective(spec_.weights, latent_, effective, backend_);
    return certified_->alpha(effective.download());
}

TrainState Trainer::snapshot() const {
    TrainState state = state_;
    state.steps = optimiser_.steps();
    const auto copy = [](const DeviceParameters& numbers) {
        std::vector<float> values(numbers.layout().size());
        numbers.download(values);
        return values;
    };
    state.latent = copy(latent_);
    state.first = copy(optimiser_.first());
    state.second = copy(optimiser_.second());
    state.mean = copy(optimiser_.mean());
    return state;
}

std::size_t Trainer::state_bytes() const {
    constexpr std::size_t parts = 4;  // those of every snapshot
    return parts * latent_.layout().size() * sizeof(float);
}

void Trainer::restore(const TrainState& state) {
    ensure(state.latent.size() == latent_.layout().size() && state.stage <= recipe_.stages.size(),
           "a state of another network");
    state_ = state;
    latent_.upload(state.latent);
    optimiser_.first().upload(state.first);
    optimiser_.second().upload(state.second);
    optimiser_.mean().upload(state.mean);
    optimiser_.set_steps(state.steps);
    resume_guarantee();
}

std::size_t training_bytes_per_link(std::string_view device) {
    // Another device has what is trained. Here are the first weights, those after the float stages,
    // the last ones, and the models of both.
    if (device != "cpu") return 6 * sizeof(float);
    // Latent and effective weights, their gradient, two moments, the running mean, the weights
    // after the float stages, and the gradients of the shards.
    return (7 + kCpuShards) * sizeof(float);
}

void Trainer::fail_diverged(const Stage& stage) const {
    // The first layer whose gradient is no longer a number is where it broke.
    std::vector<double> norms(spec_.layers, 0.0);
    for (const std::size_t k : network_->owners().own())
        norms[k - 1] = backend_.squared_norm(gradient_.weights(k));
    network_->owners().share(norms);
    std::size_t layer = 0;
    for (std::size_t k = spec_.layers; k >= 1; --k)
        if (!std::isfinite(norms[k - 1])) layer = k;
    throw Error(
        ErrorKind::failed,
        fmt::format("training diverged in epoch {} (stage '{}', {})", state_.history.size() + 1,
                    stage.name, layer ? fmt::format("layer {}", layer) : "last layer"),
        stage.scale > 0 ? "lower scale or learning_rate, or set clip in that stage"
        : state_.history.empty() && recipe_.start == Start::amp
            ? "columns that are much alike are not for a start as AMP: set Recipe::start = "
              "Start::ista"
            : "lower learning_rate or set clip in that stage");
}

}  // namespace pibinn
