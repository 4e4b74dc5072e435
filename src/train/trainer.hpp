#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/network.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/recipe.hpp"
#include "pibinn/train.hpp"
#include "train/optimiser.hpp"
#include "train/training_rows.hpp"

namespace pibinn {

class CertifiedSet;
class Guarantee;

/// Where a training stands between two epochs: all that is needed to go on from there.
struct TrainState {
    std::size_t stage = 0;
    std::size_t epoch = 0;  ///< within the stage
    std::uint64_t steps = 0;
    std::vector<float> latent, first, second, mean;
    std::vector<float> best;  ///< of the stage so far, by the validation rows; empty without these
    double best_error = 0;
    std::vector<float> pretrained;  ///< what the last float stage of a quantised network ended with
    std::vector<EpochRecord> history;
    std::vector<double> seconds;  ///< spent in each stage
};

/// Runs the stages of a recipe, one epoch per call. Everything random is a function of the seed and
/// of the epoch's number, so a training can stop after any epoch and go on later as if it had not.
class Trainer {
public:
    /// Keeps references: problem, backend, pool and ranks must outlive it. With several ranks each
    /// has a trainer, and all run their epochs together.
    Trainer(const Problem& problem, const NetworkSpec& spec, const Recipe& recipe,
            std::uint64_t seed, Backend& backend, ThreadPool& pool, Communicator& ranks = alone());

    bool done() const { return state_.stage == recipe_.stages.size(); }
    /// One epoch. Throws a `failed` error that names epoch and layer when the training diverges.
    void run_epoch();

    const std::vector<EpochRecord>& history() const { return state_.history; }
    const std::vector<double>& seconds() const { return state_.seconds; }
    /// All ranks: what snapshot() takes of other ranks comes to the first one.
    void gather() { optimiser_.gather(); }
    /// On the first rank, of what was gathered last.
    TrainState snapshot() const;
    /// Of the numbers of a snapshot.
    std::size_t state_bytes() const;
    /// The state must be of the same network and recipe.
    void restore(const TrainState& state);

    /// The model as it is now, weights as they are stored.
    Model model() const;
    /// The float network that the float stages ended with; nothing before their end, where there
    /// are none, or where nothing is quantised.
    std::optional<Model> pretrained() const;
    /// The alpha of model() on the training supports, 0 where no stage asks for one.
    double alpha() const;
    /// The class that stages with a guarantee were trained for; null where there is none.
    const SignalClass* guaranteed_class() const;

private:
    void initialise();
    void begin_stage();
    /// Lowers the scale of the stage until its network does not diverge on training signals.
    void lower_scale(const Stage& stage);
    /// The energy of the error on some training signals, relative to theirs.
    double starting_error(const Stage& stage);
    /// Whether what follows this stage is the first to see quantised weights.
    bool ends_float_stages(const Stage& stage) const;
    /// How much of a hard threshold this epoch takes off what passes (LayerSettings).
    double softening() const;
    /// A step on rows of the epoch's set; `part` is what this rank works through.
    double run_batch(const Stage& stage, double rate, std::span<const std::uint32_t> rows,
                     const BatchPart& part);
    /// All ranks: the effective weights of what was stepped last.
    void refresh_effective(const Stage& stage);
    /// All ranks: the latent weights of all layers, of which each rank has stepped its own.
    void share_latent();
    /// Multiplies what is here of it.
    void scale_gradient(float factor);
    void add_penalty(const Stage& stage);
    void project(const Stage& stage, double rate);
    /// Scales weights, and flips signs where that is not enough, until the stage's alpha is kept.
    void certify(const Stage& stage);
    /// Refuses what a later stage could not prove, before any other is trained.
    void require_guarantee();
    /// Starts a stage with the network of the least bound.
    void begin_guarantee();
    /// The same for a stage that goes on.
    void resume_guarantee();
    /// Raises thresholds to what the proof needs; returns the bound.
    double prove(const Stage& stage);
    /// Keeps what an epoch did only if it lowered the training error and did not raise the bound.
    void keep_guarantee(const Stage& stage);
    double train_error_db(const Stage& stage);
    double test_nmse_db();
    /// Remembers the parameters if the validation rows were never recovered better in this stage.
    void validate();
    /// The weights a stage runs forward with.
    WeightKind kind_in(const Stage& stage) const;
    /// All ranks.
    [[noreturn]] void fail_diverged(const Stage& stage) const;

    const Problem& problem_;
    NetworkSpec spec_;
    Recipe recipe_;
    std::uint64_t seed_;
    Backend& backend_;
    ThreadPool& pool_;
    Communicator& ranks_;
    std::unique_ptr<Network> network_;
    DeviceParameters latent_;
    DeviceParameters effective_;
    DeviceParameters gradient_;
    Optimiser optimiser_;
    bool own_stepped_ = false;  ///< other ranks have newer latent weights of their layers
    std::shared_ptr<const CertifiedSet> certified_;  ///< where a stage asks for alpha
    std::shared_ptr<Guarantee> guarantee_;           ///< where a stage asks for one
    double proven_ = 0;                              ///< the bound of state_.best
    TrainState state_;                               ///< its buffers are filled by snapshot() only
    std::size_t validation_rows_ = 0;
    std::unique_ptr<TrainingRows> rows_;
    std::vector<float> row_weights_;
};

/// Whether ranks may each hold a part of the training set: whether nothing but batches is made of
/// it before the end.
bool trains_on_parts(const NetworkSpec& spec, const Recipe& recipe);

/// Memory of this machine that a training on `device` takes per link of the network.
std::size_t training_bytes_per_link(std::string_view device);

}  // namespace pibinn
