#include "pibinn/train.hpp"
#include "model/model_parameters.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/path.hpp"
#include "model/model_units.hpp"
#include "model/storable.hpp"
#include "pibinn/communicator.hpp"
#include "pibinn/error.hpp"
#include "problem/common_mean.hpp"
#include "problem/noise_words.hpp"
#include "problem/signal_marks.hpp"
#include "problem/units.hpp"
#include "train/checkpoint.hpp"
#include "train/guarantee.hpp"
#include "train/large_network.hpp"
#include "train/polish_choice.hpp"
#include "train/trainer.hpp"

namespace pibinn {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// Checkpoints of 10^9 weights take longer to write than an epoch does. How long the first one takes
// is guessed: a disk of a virtual machine wrote 0.5 GB per second.
constexpr double kWorkPerKeeping = 9;
constexpr double kKeptPerSecond = 5e8;

constexpr std::size_t kUsualBatch = 250;
// Epochs of a single step train too little: 200 signals of a 64 x 256 problem gain 2 dB by eight.
constexpr std::size_t kStepsPerEpoch = 8;
constexpr std::size_t kLeastBatch = 25;
// Between training and test nmse, in dB.
constexpr double kLargestGap = 2;

std::string history_csv(const Recipe& recipe, std::span<const EpochRecord> history) {
    std::string csv = "epoch,stage,learning_rate,loss,test_nmse_db\n";
    for (const EpochRecord& r : history)
        csv += fmt::format("{},{},{:.6g},{:.8g},{:.4f}\n", r.epoch, recipe.stages[r.stage].name,
                           r.rate, r.loss, r.test_nmse_db);
    return csv;
}

/// Where a model is scored: on the processor, as it will recover; but to score 4000 signals by 10^9
/// weights there took longer than to train them, so that large ones stay on the device.
std::string_view scoring_device(std::string_view trained_on, const Model& model) {
    return trained_on == "cpu" || model.links() < kLargeNetworkLinks ? "cpu" : "cuda";
}

/// Scores a model as it is stored, by float32.
class Scorer {
public:
    Scorer(const Model& model, std::string_view device, ThreadPool& pool)
        : backend_(make_backend(device)),
          network_(make_network(model.spec, model.op, *backend_, PassUse::recovery)),
          parameters_(parameters_of(model), *backend_),
          pool_(pool) {}

    /// The scores of all layers on one set; the last layer's are those of the model.
    Metrics operator()(const DataSet& set, std::vector<double>& nmse_db_per_layer) {
        std::vector<Batch> layers;
        network_->recover_coefficients(parameters_, set.y, pool_, &layers);
        std::vector<Metrics> metrics(layers.size());
        pool_.run(layers.size(), [&](std::size_t k) { metrics[k] = measure(set.x, layers[k]); });
        for (const Metrics& of_layer : metrics) nmse_db_per_layer.push_back(of_layer.nmse_db);
        return metrics.back();
    }

private:
    std::unique_ptr<Backend> backend_;
    std::unique_ptr<Network> network_;
    DeviceParameters parameters_;
    ThreadPool& pool_;
};

/// All ranks: writes what a stopped training needs to go on, or the history alone.
void keep(const TrainJob& job, Trainer& trainer, const std::string& identity, bool state) {
    if (state) trainer.gather();
    if (job.folder.empty() || !job.ranks->first()) return;
    if (state) save_checkpoint(job.folder / "checkpoint.safetensors", trainer.snapshot(), identity);
    write_file(job.folder / "history.csv", history_csv(job.recipe, trainer.history()));
}

/// Goes on from the checkpoint of the folder, if there is one. Rank 0 reads it for all.
void restore(const TrainJob& job, const std::string& identity, Trainer& trainer) {
    const fs::path file = job.folder / "checkpoint.safetensors";
    const bool there = job.ranks->any(job.ranks->first() && path_exists(file));
    if (!there) return;
    const std::string content =
        job.ranks->broadcast_text(job.ranks->first() ? read_file(file) : std::string());
    const ParameterLayout layout(job.spec, job.problem->op.structure());
    trainer.restore(parse_checkpoint(content, file.string(), identity, layout, job.recipe));
}

/// Makes the numbers of all ranks those of rank 0.
void agree(Communicator& ranks, Trainer& trainer) {
    trainer.gather();
    TrainState state = trainer.snapshot();
    for (std::vector<float>* numbers :
         {&state.latent, &state.first, &state.second, &state.mean, &state.best, &state.pretrained})
        ranks.broadcast(std::as_writable_bytes(std::span(*numbers)), 0);
    if (!ranks.first()) trainer.restore(state);
}

bool report(const TrainJob& job, const Trainer& trainer, std::size_t restored,
            const ProgressSink& progress) {
    if (!progress) return true;
    const EpochRecord& last = trainer.history().back();
    const std::string detail =
        fmt::format("{}  loss {:.4g}  test {:.2f} dB", job.recipe.stages[last.stage].name,
                    last.loss, last.test_nmse_db);
    return progress({"training", last.epoch, job.recipe.epochs(), detail, restored});
}

bool asks_for_guarantee(const Recipe& recipe) {
    return std::any_of(recipe.stages.begin(), recipe.stages.end(),
                       [](const Stage& stage) { return stage.guarantee; });
}

/// What nobody said of the class follows from the problem.
SignalClass class_for(const Problem& problem, const Recipe& recipe) {
    SignalClass signals = recipe.guarantee;
    if (!asks_for_guarantee(recipe)) return signals;
    if (signals.supports.empty() && signals.size == 0 && problem.prior)
        if (const auto* sparse = std::get_if<SparsePrior>(&*problem.prior);
            sparse && !sparse->support.empty())
            signals.supports = {sparse->support};
    if (signals.noise == 0) {
        std::size_t rows = 0;
        for (const Block& b : problem.op.structure().parts()) rows = std::max(rows, b.rows);
        signals.noise = problem.noise_std > 0 ? problem.noise_std * usual_norm(rows) : 0;
    }
    return signals;
}

SignalClass in_units(SignalClass signals, const Units& units) {
    signals.norm = in_unit(signals.norm, units.signal);
    signals.noise = in_unit(signals.noise, units.measurement());
    return signals;
}

/// Thresholds are settled once more on the model as it is stored, in the units of the user.
TrainResult::Guaranteed guaranteed_result(const SignalClass& signals, Model& model,
                                          ThreadPool& pool) {
    TrainResult::Guaranteed out;
    out.signals = ClassProof(signals, model.op.structure()).signals();
    const ErrorBound bound = Guarantee::settle(out.signals, model, pool);
    out.bound = bound.error.back();
    out.proven = bound.keeps_support() && out.bound < out.signals.norm;
    if (out.proven) keep_class(model, out.signals);
    return out;
}

/// Says how many of the training signals a guarantee is not about.
void warn_of_strangers(const Problem& problem, const TrainResult::Guaranteed& guarantee,
                       std::vector<std::string>& warnings) {
    const double share = share_outside(guarantee.signals, problem.op, problem.train.x);
    if (share > 0)
        warnings.push_back(fmt::format(
            "{:.1f} % of the training signals are outside of the class of the guarantee ({}, norm "
            "up to {:.4g}): nothing is guaranteed for such signals",
            100 * share, in_words(guarantee.signals), guarantee.signals.norm));
}

/// A network whose results are no numbers is not handed out.
void require_finite(const TrainResult& result) {
    // Minus infinity is an error of exactly nothing.
    const auto number = [](double db) { return db < std::numeric_limits<double>::infinity(); };
    bool finite = number(result.train.nmse_db) && number(result.test.nmse_db);
    const auto check = [&](std::span<const float> values) {
        for (const float v : values) finite = finite && std::isfinite(v);
    };
    for (const auto& layer : result.model.weights) check(layer);
    for_each_scalar(result.model,
                    [&](const char*, const std::vector<float>& numbers) { check(numbers); });
    if (!finite)
        throw Error(ErrorKind::failed,
                    "the trained network holds or gives numbers that are not finite",
                    "lower learning_rate, or give operator, signals and noise of a size that "
                    "float32 can multiply");
}

}  // namespace

std::vector<std::string> training_warnings(const Problem& problem, const TrainResult& result) {
    std::vector<std::string> warnings = problem.warnings;
    const double train = result.train.nmse_db, test = result.test.nmse_db;
    if (test > 0)
        warnings.push_back(fmt::format(
            "test nmse {:.2f} dB is worse than the zero estimate (median {:.2f} dB): this network "
            "does not recover these signals",
            test, result.test.median_nmse_db));
    // Fresh signals are new in every epoch: those of the problem were never trained on.
    const bool by_heart = result.augment != Augment::fresh;
    if (by_heart && train < 0 && test - train > kLargestGap)
        warnings.push_back(fmt::format(
            "test nmse is {:.1f} dB worse than training nmse: the network has learned its {} "
            "training signals by heart; give more of them, or an augment that makes new ones",
            test - train, problem.train.x.rows()));
    return warnings;
}

std::size_t usual_batch(const Problem& problem, const Recipe& recipe) {
    const double all = static_cast<double>(problem.all_train_rows());
    const auto rows = static_cast<std::size_t>(all - std::round(recipe.validation * all));
    const std::size_t repeat = problem.op.structure().repeat();
    const std::size_t few = std::max(kLeastBatch, rows * repeat / kStepsPerEpoch);
    return std::min(rows, std::max<std::size_t>(1, std::min(kUsualBatch, few) / repeat));
}

TrainResult train(const TrainJob& asked, ThreadPool& pool, const ProgressSink& progress) {
    if (asked.problem == nullptr) fail_usage("a training needs a problem", "set TrainJob::problem");
    const Problem& problem = *asked.problem;
    asked.spec.validate();
    if (asked.spec.centre) require_centre(problem.op);
    require_storable(asked.spec, problem.op);
    const NormalisedProblem own = normalised(problem);
    const Problem& trained = *own.problem;
    const Units& units = own.units;
    TrainJob job = asked;
    if (job.ranks == nullptr) job.ranks = &alone();
    Communicator& ranks = *job.ranks;
    require_augment(job.recipe.augment, problem.traits());
    if (job.recipe.batch == 0) job.recipe.batch = usual_batch(problem, job.recipe);
    if (job.spec.architecture == Architecture::unrolled) fit_recipe(trained.op, job.recipe);
    job.recipe.guarantee = class_for(problem, job.recipe);
    Recipe recipe = job.recipe;
    if (&trained != &problem) recipe.guarantee = in_units(recipe.guarantee, units);
    const auto backend = make_backend(job.device);
    Trainer trainer(trained, job.spec, recipe, job.seed, *backend, pool, ranks);
    // That of all signals, which no other rank need have.
    const std::string identity =
        ranks.broadcast_text(ranks.first() ? training_identity(job) : std::string());
    if (job.resume && !job.folder.empty()) restore(job, identity, trainer);
    // What was done before counts: a resumed training starts its bar there.
    const std::size_t restored = trainer.history().size();
    bool go_on = !ranks.any(restored > 0 && !report(job, trainer, restored, progress));
    auto kept = Clock::now();
    // Seconds that the last checkpoint took.
    double keeping = static_cast<double>(trainer.state_bytes()) / kKeptPerSecond;
    while (go_on && !trainer.done()) {
        trainer.run_epoch();
        if (ranks.mixed()) agree(ranks, trainer);
        go_on = !ranks.any(!report(job, trainer, restored, progress));
        const auto since = [](Clock::time_point then) {
            return std::chrono::duration<double>(Clock::now() - then).count();
        };
        const double every = std::max(job.checkpoint_seconds, kWorkPerKeeping * keeping);
        const bool due = ranks.any(ranks.first() && since(kept) >= every);
        if (due || !go_on || trainer.done()) {
            const auto start = Clock::now();
            keep(job, trainer, identity, job.keeps_end || !trainer.done());
            kept = Clock::now();
            keeping = since(start);
        }
    }
    TrainResult result;
    result.augment = job.recipe.augment;
    result.validation = job.recipe.validation;
    result.finished = trainer.done();
    if (!ranks.first()) return result;
    Model model = trainer.model();
    if (result.finished) {
        choose_cut(trained.train, model, pool);
        if (job.recipe.choose_polish && job.spec.has_support())
            choose_polish(trained.train, model, pool);
    }
    result.model = in_users_units(std::move(model), problem.op, units);
    result.history = trainer.history();
    for (std::size_t s = 0; s < job.recipe.stages.size(); ++s)
        result.seconds.emplace_back(job.recipe.stages[s].name, trainer.seconds()[s]);
    if (!result.finished) return result;

    for (const Stage& stage : job.recipe.stages)
        if (stage.alpha > 0) result.alpha_asked = stage.alpha;
    result.alpha_reached = trainer.alpha();
    if (const SignalClass* signals = trainer.guaranteed_class()) {
        SignalClass asked_class = job.recipe.guarantee;
        asked_class.size = signals->size;
        // The longest signal that nobody named was chosen in the units of training.
        if (asked_class.norm == 0) asked_class.norm = signals->norm * units.signal;
        result.guarantee = guaranteed_result(asked_class, result.model, pool);
    }
    Scorer score(result.model, scoring_device(job.device, result.model), pool);
    result.train = score(problem.train, result.train_nmse_db_per_layer);
    result.test = score(problem.test, result.test_nmse_db_per_layer);
    require_finite(result);
    result.warnings = training_warnings(problem, result);
    if (result.guarantee) warn_of_strangers(problem, *result.guarantee, result.warnings);
    result.model.domain = problem.domain;
    result.pretrained = trainer.pretrained();
    if (result.pretrained) {
        *result.pretrained = in_users_units(std::move(*result.pretrained), problem.op, units);
        result.pretrained->domain = problem.domain;
        for (const Stage& stage : job.recipe.stages)
            if (stage.projection == Projection::none) result.pretrained_epochs += stage.epochs;
    }
    auto& metadata = result.model.metadata;
    metadata["pibinn.recipe"] = job.recipe.name;
    metadata["pibinn.seed"] = std::to_string(job.seed);
    metadata["pibinn.data"] = data_fingerprint(problem);
    metadata[kTrainSignalsKey] = signal_marks(problem.train.x);
    if (const std::string noise = noise_words(problem); !noise.empty()) metadata[kNoiseKey] = noise;
    metadata["pibinn.train_nmse_db"] = fmt::format("{:.4f}", result.train.nmse_db);
    metadata["pibinn.test_nmse_db"] = fmt::format("{:.4f}", result.test.nmse_db);
    return result;
}

TrainResult train(const Problem& problem, const NetworkSpec& spec, const TrainOptions& options) {
    TrainJob job;
    job.problem = &problem;
    job.spec = fit_network(problem, network_for(options.recipe, spec), options.own);
    job.recipe = recipe_for(problem, job.spec, options.recipe);
    job.seed = options.seed;
    job.device = options.device;
    job.folder = options.folder;
    job.resume = options.resume;
    ThreadPool pool(options.threads);
    return train(job, pool, options.progress);
}

}  // namespace pibinn
