#include "study/training_run.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "study/cells.hpp"
#include "study/model_json.hpp"
#include "study/problem_source.hpp"
#include "study/radio_words.hpp"
#include "study/real_source.hpp"
#include "study/run_folder.hpp"
#include "train/dealt_problem.hpp"
#include "train/trainer.hpp"

namespace pibinn::study {

namespace {

using nlohmann::ordered_json;

/// What the network's signals are coefficients of, and what its scores are so computed on.
void add_domain(ordered_json& json, const SignalDomain& domain) {
    json["basis"] = to_string(domain.basis.kind());
    json["normalize"] = to_string(domain.normalize);
    json["mean"] = domain.mean;
    json["deviation"] = domain.deviation;
    if (domain.patch > 0) json["patch"] = domain.patch;
    json["scored"] = domain.normalize == Normalize::none ? "signals" : "normalised signals";
}

/// Of all test patches together, in pixels from 0 to 1: the basis keeps the squared error, and the
/// normalisation only scales it.
double test_psnr_db(const SeedRun& seed) {
    const Batch& x = seed.problem->test.x;
    double energy = 0;
    for (const float v : x.values()) energy += double{v} * v;
    const double deviation = seed.problem->domain.deviation;
    const double power = deviation * deviation * energy / static_cast<double>(x.size());
    return -to_db(power) - seed.result.test.energy_nmse_db;
}

ordered_json problem_json(const TrainingRun& run, const Problem& problem) {
    const ProblemConfig& config = run.config.problem;
    ordered_json json{
        {"kind", to_string(config.kind)},  {"m", problem.op.rows()},
        {"n", problem.op.cols()},          {"structure", to_string(problem.op.structure().kind())},
        {"train", problem.train.x.rows()}, {"test", problem.test.x.rows()},
        {"noise_std", problem.noise_std},  {"data", data_fingerprint(problem)}};
    if (config.kind == ProblemKind::synthetic) json["density"] = config.spec.prior.density;
    if (is_radio(config.kind)) add_radio(json, config);
    const Structure& s = problem.op.structure();
    if (s.kind() == StructureKind::mask) json["mask_density"] = link_density(s);
    if (!problem.domain.plain()) add_domain(json, problem.domain);
    if (config.kind == ProblemKind::images || config.kind == ProblemKind::signals) {
        json["noise_std"] = *config.real.noise_std;
        if (!problem.snr_db) json["noise_at"] = to_string(config.real.noise_place);
    }
    if (const auto& snr = problem.snr_db)
        json["snr_db"] = snr->least_db == snr->most_db ? ordered_json(snr->least_db)
                                                       : ordered_json{snr->least_db, snr->most_db};
    if (!problem.protocol.empty()) json["protocol"] = problem.protocol;
    if (!problem.exchangeability.empty()) json["exchangeability"] = problem.exchangeability;
    if (!problem.notes.empty()) json["notes"] = problem.notes;
    return json;
}

ordered_json seed_json(const SeedRun& run) {
    ordered_json json{{"seed", run.seed},
                      {"train_nmse_db", run.result.train.nmse_db},
                      {"test_nmse_db", run.result.test.nmse_db},
                      {"train_energy_nmse_db", run.result.train.energy_nmse_db},
                      {"test_energy_nmse_db", run.result.test.energy_nmse_db},
                      {"test_median_nmse_db", run.result.test.median_nmse_db},
                      {"support_f1", run.result.test.support_f1},
                      {"scale", run.result.model.scale()}};
    if (run.result.alpha_asked > 0) json["alpha"] = run.result.alpha_reached;
    if (run.certificate) json["guaranteed"] = run.certificate->verdict == Verdict::guaranteed;
    return json;
}

/// A guarantee is believed by its certificate alone, which stays with the model.
void certify_seed(SeedRun& seed, ThreadPool& pool) {
    const SignalClass& signals = seed.result.guarantee->signals;
    CertificateInput input;
    if (signals.supports.size() == 1)
        input.support = signals.supports.front();
    else
        input.supports = signals.supports;
    if (signals.size > 0) input.size = signals.size;
    CertificateOptions options;
    options.B = signals.norm;
    options.noise = signals.noise;
    options.float32 = true;
    seed.certificate =
        std::make_shared<const Certificate>(certify(seed.result.model, input, options, pool));
    attach_certificate(seed.result.model, *seed.certificate);
}

ordered_json guarantee_json(const SeedRun& run) {
    const Certificate& c = *run.certificate;
    const SignalClass& signals = run.result.guarantee->signals;
    ordered_json json{{"guaranteed", c.verdict == Verdict::guaranteed},
                      {"statement", c.statement()},
                      {"norm", signals.norm},
                      {"noise", signals.noise}};
    if (signals.size > 0)
        json["size"] = signals.size;
    else
        json["supports"] = signals.supports;
    json["bound"] = c.bound.error;
    json["bound_db"] = 2 * to_db(c.bound.error.back() / signals.norm);
    return json;
}

/// The largest of the seeds.
double alpha_reached(const std::vector<SeedRun>& seeds) {
    double most = 0;
    for (const SeedRun& seed : seeds) most = std::max(most, seed.result.alpha_reached);
    return most;
}

/// Whether the ranks of one training may each hold a part of its signals, as far as is known
/// without these.
bool may_be_in_parts(const TrainingRun& run) {
    return run.train.seeds == 1 && run.device == "cpu" && !run.config.dense_network &&
           trains_on_parts(run.config.model, run.train.recipe);
}

/// The problem that all ranks train on together. Where each may hold a part of its signals, another
/// rank than the first draws its part alone, or gets it from the first one, which has read all.
std::shared_ptr<const Problem> shared_problem(const TrainingRun& run, ThreadPool& pool,
                                              Communicator& ranks) {
    Config own = run.config;
    if (!ranks.several() || !may_be_in_parts(run) || is_radio(own.problem.kind))
        return seed_problem(own, 0, pool);
    if (own.problem.kind == ProblemKind::synthetic) {
        if (!ranks.first()) {
            own.problem.spec.part = ranks.rank();
            own.problem.spec.parts = ranks.size();
        }
        return seed_problem(own, 0, pool);
    }
    Problem problem;
    bool parts = false;
    if (ranks.first()) {
        problem = make_problem(own, pool);
        const NetworkSpec spec = fit_network(problem, own.model, own.choices());
        parts = trains_on_parts(spec, fitted_recipe(run.train, spec, problem));
    }
    if (ranks.any(parts))
        problem = deal_problem(std::move(problem), ranks);
    else if (!ranks.first())
        problem = make_problem(own, pool);
    return std::make_shared<const Problem>(std::move(problem));
}

}  // namespace

std::shared_ptr<const Problem> seed_problem(const Config& config, std::size_t index,
                                            ThreadPool& pool) {
    Config own = config;
    own.seed += index;
    return std::make_shared<const Problem>(make_problem(own, pool));
}

SeedProblems make_problems(const Config& config, std::size_t seeds, ThreadPool& pool) {
    SeedProblems problems;
    for (std::size_t i = 0; i < seeds; ++i) problems.push_back(seed_problem(config, i, pool));
    return problems;
}

std::vector<SeedRun> train_seeds(const TrainingRun& run, const SeedProblems& problems,
                                 TrainingProgress& progress, std::uint64_t work, ThreadPool& pool,
                                 Communicator& ranks) {
    ensure(problems.size() == run.train.seeds, "one problem per seed");
    std::vector<SeedRun> seeds(run.train.seeds);
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        seeds[i].seed = run.config.seed + i;
        seeds[i].problem = problems[i];
        seeds[i].result.finished = false;
        cells.push_back({&run, i, work});
    }
    const auto problem = [&](std::size_t i) {
        return problems[i] ? problems[i] : seed_problem(run.config, i, pool);
    };
    const auto keep = [&](std::size_t i, SeedRun seed) {
        if (!ranks.first()) return;  // its checkpoint is enough
        keep_seed(run, i, seed, pool);
        seeds[i] = std::move(seed);
    };
    collect_cells(cells, run_cells(cells, problem, keep, progress, pool, {}, ranks), problem, keep,
                  pool);
    return seeds;
}

void keep_seed(const TrainingRun& run, std::size_t index, SeedRun& seed, ThreadPool& pool) {
    if (seed.result.guarantee) certify_seed(seed, pool);
    if (run.train.seeds > 1) seed.result.model.save(seed_folder(run, index) / "model.safetensors");
}

TrainedRun run_training(const TrainingRun& run, const ProgressSink& listener, ThreadPool& pool,
                        Communicator& ranks) {
    TrainingProgress progress(listener, run.train.seeds * run.train.recipe.epochs());
    // Another rank than 0 makes the problems of the seeds that it gets.
    const bool all = ranks.first() || run.train.seeds == 1;
    SeedProblems problems(run.train.seeds);
    if (run.train.seeds == 1)
        problems = {shared_problem(run, pool, ranks)};
    else if (all)
        problems = make_problems(run.config, run.train.seeds, pool);
    if (all) progress.note(short_notes(*problems.front()));
    TrainedRun trained;
    trained.seeds = train_seeds(run, problems, progress, 1, pool, ranks);
    trained.finished = all_finished(trained.seeds);
    trained.epochs = progress.done();
    trained.all_epochs = progress.total();
    return trained;
}

Spread over_seeds(const std::vector<SeedRun>& seeds,
                  const std::function<double(const SeedRun&)>& value) {
    std::vector<double> values;
    for (const SeedRun& seed : seeds) values.push_back(value(seed));
    return spread(values);
}

bool all_finished(const std::vector<SeedRun>& seeds) {
    return std::all_of(seeds.begin(), seeds.end(),
                       [](const SeedRun& seed) { return seed.result.finished; });
}

ordered_json summary_json(const TrainingRun& run, const std::vector<SeedRun>& seeds) {
    const SeedRun& first = seeds.front();
    const Model& model = first.result.model;
    const auto train_nmse =
        over_seeds(seeds, [](const SeedRun& s) { return s.result.train.nmse_db; });
    const auto test_nmse =
        over_seeds(seeds, [](const SeedRun& s) { return s.result.test.nmse_db; });
    const auto train_energy =
        over_seeds(seeds, [](const SeedRun& s) { return s.result.train.energy_nmse_db; });
    const auto test_energy =
        over_seeds(seeds, [](const SeedRun& s) { return s.result.test.energy_nmse_db; });
    ordered_json seconds;
    for (std::size_t i = 0; i < first.result.seconds.size(); ++i)
        seconds[first.result.seconds[i].first] =
            over_seeds(seeds, [&](const SeedRun& s) { return s.result.seconds[i].second; }).mean;
    ordered_json per_seed = ordered_json::array();
    for (const SeedRun& seed : seeds) per_seed.push_back(seed_json(seed));
    ordered_json summary{
        {"problem", problem_json(run, *first.problem)},
        {"model", model_json(model)},
        {"recipe", run.train.recipe.name},
        {"augment", to_string(first.result.augment)},
        {"validation", first.result.validation},
        {"warnings", warnings_of(seeds)},
        {"train_nmse_db", train_nmse.mean},
        {"test_nmse_db", test_nmse.mean},
        {"train_energy_nmse_db", train_energy.mean},
        {"test_energy_nmse_db", test_energy.mean},
        {"test_median_nmse_db",
         over_seeds(seeds, [](const SeedRun& s) { return s.result.test.median_nmse_db; }).mean},
        {"test_exact_share",
         over_seeds(seeds, [](const SeedRun& s) { return s.result.test.exact_share; }).mean},
        {"skipped_zero_signals", first.result.test.skipped_zero_signals},
        {"std", {{"train_nmse_db", train_nmse.deviation}, {"test_nmse_db", test_nmse.deviation}}},
        {"scale", model.scale()},
        {"theta", model.theta},
        {"gain", model.gain},
        {"step", model.step},
        {"beta", model.beta},
        {"omega", model.omega},
        {"bits", bits_json(count_bits(model))},
        {"seconds", seconds},
        {"per_layer_nmse_db",
         {{"train", first.result.train_nmse_db_per_layer},
          {"test", first.result.test_nmse_db_per_layer}}},
        {"seeds", per_seed},
        {"device", run.device},
        {"version", version()}};
    if (first.problem->domain.patch > 0)
        summary["test_psnr_db"] =
            over_seeds(seeds, [](const SeedRun& s) { return test_psnr_db(s); }).mean;
    if (first.certificate) summary["guarantee"] = guarantee_json(first);
    if (first.result.alpha_asked > 0)
        summary["alpha"] = {{"asked", first.result.alpha_asked}, {"reached", alpha_reached(seeds)}};
    return summary;
}

std::vector<std::string> warnings_of(const std::vector<SeedRun>& seeds) {
    std::vector<std::string> warnings;
    for (const SeedRun& seed : seeds)
        if (warnings.empty()) warnings = seed.result.warnings;
    const double asked = seeds.front().result.alpha_asked;
    const double reached = alpha_reached(seeds);
    // Weights are float32.
    if (asked != 0 && reached > asked * (1 + 1e-5))
        warnings.push_back(fmt::format(
            "alpha is {:.4g} on the training supports, over the {:.4g} asked for: no scale of "
            "these signs keeps it, or a later stage without alpha left it",
            reached, asked));
    for (const SeedRun& seed : seeds)
        if (seed.certificate && seed.certificate->verdict != Verdict::guaranteed) {
            warnings.push_back(fmt::format("seed {} ended without its guarantee: {}", seed.seed,
                                           seed.certificate->why));
            break;
        }
    return warnings;
}

}  // namespace pibinn::study
