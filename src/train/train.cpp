#include "pibinn/train.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "core/file.hpp"
#include "core/fingerprint.hpp"
#include "pibinn/error.hpp"
#include "train/checkpoint.hpp"
#include "train/trainer.hpp"

namespace pibinn {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kUsualBatch = 250;

std::string history_csv(const Recipe& recipe, std::span<const EpochRecord> history) {
    std::string csv = "epoch,stage,learning_rate,loss,test_nmse_db\n";
    for (const EpochRecord& r : history)
        csv += fmt::format("{},{},{:.6g},{:.8g},{:.4f}\n", r.epoch, recipe.stages[r.stage].name,
                           r.rate, r.loss, r.test_nmse_db);
    return csv;
}

/// The scores of all layers on one set; the last layer's are those of the model.
Metrics score(const Model& model, const DataSet& set, ThreadPool& pool,
              std::vector<double>& nmse_db_per_layer) {
    std::vector<Batch> layers;
    recover_coefficients(model, set.y, pool, &layers);
    Metrics last;
    for (const Batch& x : layers) {
        last = measure(set.x, x);
        nmse_db_per_layer.push_back(last.nmse_db);
    }
    return last;
}

/// Writes what a stopped training needs to go on.
void keep(const TrainJob& job, const Trainer& trainer, const std::string& identity) {
    if (job.folder.empty()) return;
    save_checkpoint(job.folder / "checkpoint.safetensors", trainer.snapshot(), identity);
    write_file(job.folder / "history.csv", history_csv(job.recipe, trainer.history()));
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

}  // namespace

std::string data_fingerprint(const Problem& problem) {
    // The bytes of every array, shapes included.
    Fingerprint hash;
    const auto mix_batch = [&](const Batch& b) {
        const std::uint64_t shape[2] = {b.rows(), b.cols()};
        hash.mix(shape, sizeof shape);
        hash.mix(b.values());
    };
    hash.mix(problem.op.values());
    for (const DataSet* set : {&problem.train, &problem.test}) {
        mix_batch(set->x);
        mix_batch(set->y);
    }
    hash.mix(&problem.noise_std, sizeof problem.noise_std);
    const Disturbance& disturbance = problem.train_disturbance;
    if (!disturbance.none()) {
        mix_batch(disturbance.artefacts);
        for (const double number :
             {disturbance.noise_std, disturbance.least_snr_db, disturbance.most_snr_db})
            hash.mix(&number, sizeof number);
    }
    return hash.text();
}

std::size_t usual_batch(const Problem& problem, const Recipe& recipe) {
    const std::size_t wanted =
        std::max<std::size_t>(1, kUsualBatch / problem.op.structure().repeat());
    const auto rows = static_cast<double>(problem.train.x.rows());
    return std::min(wanted, static_cast<std::size_t>(rows - std::round(recipe.validation * rows)));
}

TrainResult train(const TrainJob& asked, ThreadPool& pool, const ProgressSink& progress) {
    if (asked.problem == nullptr) fail_usage("a training needs a problem", "set TrainJob::problem");
    const Problem& problem = *asked.problem;
    TrainJob job = asked;
    job.spec.validate();
    require_augment(job.recipe.augment, problem.traits());
    if (job.recipe.batch == 0) job.recipe.batch = usual_batch(problem, job.recipe);
    if (job.spec.architecture == Architecture::unrolled) fit_recipe(problem.op, job.recipe);
    const auto backend = make_backend(job.device);
    Trainer trainer(problem, job.spec, job.recipe, job.seed, *backend, pool);
    const std::string identity = training_identity(job);
    if (job.resume && !job.folder.empty()) {
        const ParameterLayout layout(job.spec, problem.op.structure());
        if (const auto state = load_checkpoint(job.folder / "checkpoint.safetensors", identity,
                                               layout, job.recipe))
            trainer.restore(*state);
    }
    // What was done before counts: a resumed training starts its bar there.
    const std::size_t restored = trainer.history().size();
    bool go_on = restored == 0 || report(job, trainer, restored, progress);
    auto kept = Clock::now();
    while (go_on && !trainer.done()) {
        trainer.run_epoch();
        go_on = report(job, trainer, restored, progress);
        const bool due =
            std::chrono::duration<double>(Clock::now() - kept).count() >= job.checkpoint_seconds;
        if (due || !go_on || trainer.done()) {
            keep(job, trainer, identity);
            kept = Clock::now();
        }
    }
    TrainResult result;
    result.model = trainer.model();
    result.finished = trainer.done();
    result.history = trainer.history();
    for (std::size_t s = 0; s < job.recipe.stages.size(); ++s)
        result.seconds.emplace_back(job.recipe.stages[s].name, trainer.seconds()[s]);
    if (!result.finished) return result;

    for (const Stage& stage : job.recipe.stages)
        if (stage.alpha > 0) result.alpha_asked = stage.alpha;
    result.alpha_reached = trainer.alpha();
    result.train = score(result.model, problem.train, pool, result.train_nmse_db_per_layer);
    result.test = score(result.model, problem.test, pool, result.test_nmse_db_per_layer);
    result.model.domain = problem.domain;
    result.pretrained = trainer.pretrained();
    if (result.pretrained) {
        result.pretrained->domain = problem.domain;
        for (const Stage& stage : job.recipe.stages)
            if (stage.projection == Projection::none) result.pretrained_epochs += stage.epochs;
    }
    auto& metadata = result.model.metadata;
    metadata["pibinn.recipe"] = job.recipe.name;
    metadata["pibinn.seed"] = std::to_string(job.seed);
    metadata["pibinn.data"] = data_fingerprint(problem);
    metadata["pibinn.train_nmse_db"] = fmt::format("{:.4f}", result.train.nmse_db);
    metadata["pibinn.test_nmse_db"] = fmt::format("{:.4f}", result.test.nmse_db);
    return result;
}

TrainResult train(const Problem& problem, const NetworkSpec& spec, const TrainOptions& options) {
    TrainJob job;
    job.problem = &problem;
    job.spec = network_for(options.recipe, spec);
    job.recipe = recipe_for(problem, job.spec, options.recipe);
    job.seed = options.seed;
    job.device = options.device;
    job.folder = options.folder;
    job.resume = options.resume;
    ThreadPool pool(options.threads);
    return train(job, pool, options.progress);
}

}  // namespace pibinn
