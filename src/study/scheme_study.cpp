#include "study/scheme_study.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/path.hpp"
#include "model/weights/weight_rules.hpp"
#include "pibinn/error.hpp"
#include "pibinn/sparsity.hpp"
#include "pibinn/version.hpp"
#include "study/cells.hpp"
#include "study/comparison.hpp"
#include "study/config_document.hpp"
#include "study/model_json.hpp"
#include "study/problem_source.hpp"
#include "study/real_source.hpp"
#include "study/run_folder.hpp"
#include "study/run_report.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kComparisonFile = "compare.json";

/// A scheme, the training of it, and what that costs.
struct SchemeCandidate {
    Scheme scheme;
    TrainingRun run;
    std::uint64_t work = 1;  ///< of an epoch, in thousands of products per signal
};

std::uint64_t work_of(const Config& config, const Structure& physics) {
    const auto product = [](std::size_t a, std::size_t b) { return std::uint64_t{a} * b; };
    const std::uint64_t m = physics.rows(), n = physics.cols(), layers = config.model.layers;
    const std::uint64_t products =
        config.model.architecture == Architecture::fcn ? m * n + (layers - 1) * n * n
        : config.dense_network                         ? 2 * layers * m * n
                               : 2 * layers * product(physics.links(), physics.repeat());
    return 1 + products / 1000;
}

SchemeCandidate make_candidate(const SchemeStudy& study, const Scheme& scheme,
                               const ConfigDocument& document, const Config& config,
                               const Structure& physics) {
    SchemeCandidate c{scheme, {}, 1};
    try {
        c.run.config = scheme.applied_to(config);
        c.run.train = read_train_config(document, c.run.config, true);
        require_memory(c.run.config, physics);
    } catch (const Error& error) {
        throw Error(
            error.kind(),
            fmt::format("scheme {} on {}: {}", scheme.name, scheme.structure, error.message()),
            error.hint());
    }
    if (study.seeds > 0) c.run.train.seeds = study.seeds;
    c.run.folder = study.folder / scheme.folder();
    c.run.resume = study.resume;
    c.run.command = study.command;
    c.run.label = scheme.folder();
    c.work = work_of(c.run.config, physics);
    return c;
}

/// Schemes that the folder holds finished and that are not asked for now.
std::vector<std::string> finished_others(const fs::path& out,
                                         const std::vector<SchemeCandidate>& candidates) {
    std::vector<std::string> others;
    std::error_code code;
    for (fs::directory_iterator at(out, code), end; !code && at != end; at.increment(code)) {
        const std::string name = at->path().filename().string();
        const bool asked =
            std::any_of(candidates.begin(), candidates.end(),
                        [&](const SchemeCandidate& c) { return c.scheme.folder() == name; });
        if (!asked && path_exists(at->path() / "summary.json")) others.push_back(name);
    }
    std::sort(others.begin(), others.end());
    return others;
}

/// Refuses a folder that holds something else, before anything is made.
void require_own_folders(const SchemeStudy& study, const std::vector<SchemeCandidate>& candidates) {
    const fs::path& out = study.folder;
    if (path_exists(out / kComparisonFile) && !study.resume)
        fail_usage(fmt::format("'{}' already holds a comparison", out.string()),
                   "choose another RunOptions::folder, or set RunOptions::resume to go on with it");
    if (path_exists(out / "model.safetensors") || path_exists(out / "checkpoint.safetensors"))
        fail_usage(fmt::format("'{}' holds a training, not a comparison", out.string()),
                   "choose another RunOptions::folder");
    for (const SchemeCandidate& c : candidates) require_own_folder(c.run);
    const std::vector<std::string> others = finished_others(out, candidates);
    if (study.resume && !others.empty())
        fail_usage(fmt::format("'{}' also holds {}, which would drop out of the table",
                               out.string(), fmt::join(others, ", ")),
                   "name these schemes too, or choose another RunOptions::folder");
}

/// The methods that need no network, on the problem of every seed and in the same order for each.
struct References {
    Comparison first;  ///< on the problem of the first seed, beside whose networks it is shown
    std::vector<ReferenceRow> rows;

    References(const SeedProblems& problems, std::size_t layers, ThreadPool& pool)
        : first(*problems.front(), pool) {
        first.add_references(layers);
        std::vector<Comparison> all{first};
        for (std::size_t i = 1; i < problems.size(); ++i) {
            all.emplace_back(*problems[i], pool);
            all.back().add_references(layers);
        }
        for (const ComparisonRow& row : first.rows()) {
            // Signals of another seed may be too full for a bound, or for OMP.
            const auto over = [&](double Metrics::*figure) {
                std::vector<double> values;
                for (const Comparison& comparison : all)
                    for (const ComparisonRow& other : comparison.rows())
                        if (other.method == row.method) values.push_back(other.metrics.*figure);
                return spread(values);
            };
            rows.push_back({row.method, over(&Metrics::nmse_db), row.time, row.stored_bits,
                            over(&Metrics::energy_nmse_db), over(&Metrics::median_nmse_db),
                            row.bound});
        }
    }
};

SchemeRow make_row(const Scheme& scheme, const std::vector<SeedRun>& seeds,
                   const RecoveryTime& time) {
    const Model& model = seeds.front().result.model;
    SchemeRow row;
    row.scheme = scheme.name;
    row.structure = scheme.structure;
    row.ours = scheme.ours;
    row.train_nmse_db = over_seeds(seeds, [](const SeedRun& s) { return s.result.train.nmse_db; });
    row.test_nmse_db = over_seeds(seeds, [](const SeedRun& s) { return s.result.test.nmse_db; });
    row.test_median_nmse_db =
        over_seeds(seeds, [](const SeedRun& r) { return r.result.test.median_nmse_db; });
    row.links = model.links();
    row.bits = count_bits(model);
    row.sparsity =
        over_seeds(seeds, [](const SeedRun& s) { return sparsity(s.result.model); }).mean;
    const Structure& physics = seeds.front().problem->op.structure();
    if (rules_of(model.spec.weights).has_level(0) && scheme.structure == "dense" &&
        physics.kind() != StructureKind::dense && overlap(model, physics))
        row.overlap = over_seeds(seeds, [](const SeedRun& s) {
                          return *overlap(s.result.model, s.problem->op.structure());
                      }).mean;
    row.time = time;
    row.seconds = over_seeds(seeds, [](const SeedRun& s) {
                      double sum = 0;
                      for (const auto& stage : s.result.seconds) sum += stage.second;
                      return sum;
                  }).mean;
    return row;
}

std::vector<SchemeRow> train_all(const std::vector<SchemeCandidate>& candidates,
                                 const SeedProblems& problems, const References* references,
                                 const ProgressSink& listener, ThreadPool& pool,
                                 Communicator& ranks) {
    std::vector<Cell> cells;
    std::vector<std::vector<SeedRun>> trained;
    for (const SchemeCandidate& c : candidates) {
        trained.emplace_back(c.run.train.seeds);
        for (std::size_t i = 0; i < c.run.train.seeds; ++i) {
            trained.back()[i].result.finished = false;
            cells.push_back({&c.run, i, c.work});
        }
    }
    const std::size_t seeds = problems.size();
    TrainingProgress progress(listener, total_work(cells));
    progress.note(short_notes(*problems.front()));
    const auto problem = [&](std::size_t i) { return problems[i % seeds]; };
    const auto keep = [&](std::size_t i, SeedRun seed) {
        if (!ranks.first()) return;  // its checkpoint is enough
        keep_seed(*cells[i].run, cells[i].index, seed, pool);
        trained[i / seeds][i % seeds] = std::move(seed);
    };
    collect_cells(cells, run_cells(cells, problem, keep, progress, pool, {}, ranks), problem, keep,
                  pool);
    if (!ranks.first()) return {};
    // Times are taken now that no training takes the cores away.
    std::vector<SchemeRow> rows;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (!all_finished(trained[c])) continue;
        const SchemeCandidate& candidate = candidates[c];
        Comparison comparison = references->first;
        comparison.add_trained(candidate.scheme.folder(), trained[c].front().result);
        write_results(candidate.run, trained[c], comparison, pool);
        rows.push_back(make_row(candidate.scheme, trained[c], comparison.rows().back().time));
    }
    return rows;
}

std::vector<std::string> facts_of(const Config& config, const Problem& problem,
                                  const TrainConfig& train) {
    const Structure& s = problem.op.structure();
    std::vector<std::string> facts{
        fmt::format("{} × {} {}", s.rows(), s.cols(), to_string(s.kind())),
        fmt::format("{} layers", config.model.layers),
        fmt::format("{} update", to_string(config.model.update)),
        fmt::format("recipe {}", train.recipe.name),
        train.seeds == 1 ? fmt::format("seed {}", config.seed)
                         : fmt::format("{} seeds from {}", train.seeds, config.seed)};
    return facts;
}

ordered_json number_or_null(const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

}  // namespace

ordered_json scheme_json(const SchemeResult& result) {
    const SchemesReport& report = result.report;
    const std::vector<std::size_t> front = networks_front(report);
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const SchemeRow& r = report.rows[i];
        rows.push_back({{"scheme", r.scheme},
                        {"structure", r.structure},
                        {"train_nmse_db", r.train_nmse_db.mean},
                        {"test_nmse_db", r.test_nmse_db.mean},
                        {"test_median_nmse_db", r.test_median_nmse_db.mean},
                        {"gap_db", r.gap_db()},
                        {"std",
                         {{"train_nmse_db", r.train_nmse_db.deviation},
                          {"test_nmse_db", r.test_nmse_db.deviation}}},
                        {"links", r.links},
                        {"bits", bits_json(r.bits)},
                        {"sparsity", r.sparsity},
                        {"overlap", number_or_null(r.overlap)},
                        {"microseconds_per_signal", r.time.batch_us},
                        {"latency_microseconds", r.time.latency_us},
                        {"batch", r.time.batch},
                        {"threads", r.time.threads},
                        {"seconds", r.seconds},
                        {"front", std::find(front.begin(), front.end(), i) != front.end()},
                        {"folder", result.folders[i]}});
    }
    ordered_json references = ordered_json::array();
    for (const ReferenceRow& r : report.references) {
        ordered_json row{{"method", r.method},
                         {"test_nmse_db", r.nmse_db.mean},
                         {"test_energy_nmse_db", r.energy_nmse_db.mean},
                         {"test_median_nmse_db", r.median_nmse_db.mean}};
        if (r.bound) {
            row["bound"] = true;
        } else {
            row["stored_bits"] = r.bits;
            row["microseconds_per_signal"] = r.time.batch_us;
            row["latency_microseconds"] = r.time.latency_us;
            row["batch"] = r.time.batch;
            row["threads"] = r.time.threads;
        }
        references.push_back(std::move(row));
    }
    return {
        {"problem", report.problem}, {"seeds", result.seeds},        {"rows", rows},
        {"references", references},  {"verdicts", verdicts(report)}, {"version", report.version}};
}

SchemeResult compare_schemes(const SchemeStudy& study, const Config& config,
                             const ConfigDocument& document, const ProgressSink& progress,
                             ThreadPool& pool, Communicator& ranks) {
    SeedProblems problems;
    Structure physics;
    if (traits_of(config.problem).drawn) {
        // Signals are drawn once it is known that all networks fit the memory.
        physics = problem_without_signals(config, pool).op.structure();
    } else {
        problems.push_back(seed_problem(config, 0, pool));
        physics = problems.front()->op.structure();
    }
    std::vector<SchemeCandidate> candidates;
    for (const Scheme& scheme : choose_schemes(study.choice, physics.kind()))
        candidates.push_back(make_candidate(study, scheme, document, config, physics));
    RunFolders folders;
    if (ranks.first()) {
        require_own_folders(study, candidates);
        folders.add(study.folder);
        require_own_folders(study, candidates);  // nothing came in between
        for (const SchemeCandidate& c : candidates) folders.add(c.run);
    }
    ranks.barrier();

    const TrainingRun& any = candidates.front().run;
    while (problems.size() < any.train.seeds)
        problems.push_back(seed_problem(config, problems.size(), pool));
    if (!ranks.first()) {
        train_all(candidates, problems, nullptr, progress, pool, ranks);
        return {};
    }
    const References references(problems, config.model.layers, pool);
    SchemeResult result;
    result.schemes = candidates.size();
    result.seeds = any.train.seeds;
    for (const SchemeCandidate& c : candidates) result.folders.push_back(c.scheme.folder());
    SchemesReport& report = result.report;
    report.problem = problem_line(config, *problems.front());
    report.facts = facts_of(any.config, *problems.front(), any.train);
    report.references = references.rows;
    report.references_note = fewer_signals_note(references.first.rows());
    report.rows = train_all(candidates, problems, &references, progress, pool, ranks);
    report.command = study.command + " --out DIR";
    report.version = version();
    result.trained = report.rows.size();
    result.finished = result.trained == result.schemes;
    if (!result.finished) return result;

    write_file(study.folder / "compare.csv", schemes_csv(report));
    write_file(study.folder / "report.html", schemes_report(report));
    write_file(study.folder / kComparisonFile, scheme_json(result).dump(2) + "\n");
    return result;
}

}  // namespace pibinn::study
