#include "study/field_study.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "algebra/backend.hpp"
#include "core/escape.hpp"
#include "core/file.hpp"
#include "core/path.hpp"
#include "pibinn/error.hpp"
#include "pibinn/version.hpp"
#include "study/config_document.hpp"
#include "study/dealer.hpp"
#include "study/field_json.hpp"
#include "study/field_judge.hpp"
#include "study/run_folder.hpp"
#include "study/training_run.hpp"
#include "train/checkpoint.hpp"

namespace pibinn::study {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kFieldFile = "field.json";
constexpr const char* kNetworks = "networks";
constexpr const char* kReferences = "references";

/// A training of the benchmark, ready to start.
struct FieldCandidate {
    FieldCase field;
    TrainingRun run;
    std::string configuration;  ///< word for word
    std::uint64_t work = 1;     ///< of an epoch

    fs::path file() const { return run.folder / "case.json"; }
    std::uint64_t epochs() const { return run.train.seeds * run.train.recipe.epochs(); }
};

/// A problem that references are judged by.
struct Bench {
    FieldReference field;
    Config config;
    std::size_t seeds = 1;
    fs::path file;
    std::string configuration;
};

/// The settings without those of stages that this network has not, as `pibinn train` takes them.
std::vector<std::string> own_settings(const std::vector<std::string>& settings,
                                      const Recipe& recipe) {
    constexpr std::string_view prefix = "train.stage.";
    std::vector<std::string> own;
    for (const std::string& setting : settings) {
        const bool known =
            !setting.starts_with(prefix) ||
            std::any_of(recipe.stages.begin(), recipe.stages.end(), [&](const Stage& stage) {
                return setting.starts_with(fmt::format("{}{}.", prefix, stage.name));
            });
        if (known) own.push_back(setting);
    }
    return own;
}

FieldCandidate make_candidate(const FieldStudy& study, FieldCase field) {
    FieldCandidate c;
    const ConfigDocument document("", field.settings);
    c.run.config = read_config(document);
    c.run.train = read_train_config(document, c.run.config, true);
    if (study.seeds > 0) c.run.train.seeds = study.seeds;
    field.settings = own_settings(field.settings, c.run.train.recipe);
    c.run.folder = study.folder / kNetworks / field.name;
    c.run.resume = true;
    c.run.label = field.name;
    c.run.device = study.device;
    c.run.command = "pibinn train";
    for (const std::string& setting : field.settings)
        c.run.command += " --set " + shell_word(setting);
    if (study.seeds > 0) c.run.command += fmt::format(" --set train.seeds={}", study.seeds);
    if (study.device != "cpu") c.run.command += " --device " + study.device;
    // Weights that are trained take a product more per layer.
    const std::uint64_t products = c.run.config.model.tied() ? 2 : 3;
    c.work = 1 + products * field.layers * c.run.config.problem.spec.m * field.n / 1000;
    c.configuration = fmt::format("{}\n{}", c.run.command,
                                  recipe_identity(c.run.config.model, c.run.train.recipe));
    c.field = std::move(field);
    return c;
}

Bench make_bench(const FieldStudy& study, FieldReference field) {
    Bench bench;
    const ConfigDocument document("", field.settings);
    bench.config = read_config(document);
    bench.seeds = read_train_config(document, bench.config, true).seeds;
    if (study.seeds > 0) bench.seeds = study.seeds;
    if (study.reference_seeds > 0) bench.seeds = study.reference_seeds;
    bench.file = study.folder / kReferences / (field.name + ".json");
    for (const std::string& setting : field.settings)
        if (!setting.starts_with("train.")) bench.configuration += setting + " ";
    for (const std::size_t k : field.iterations) bench.configuration += fmt::format("K={} ", k);
    bench.configuration += fmt::format("seeds={}", bench.seeds);
    bench.field = std::move(field);
    return bench;
}

/// What a folder of the benchmark holds that is not of it.
std::vector<std::string> strangers(const fs::path& folder,
                                   const std::function<bool(const std::string&)>& ours) {
    std::vector<std::string> names;
    std::error_code code;
    for (fs::directory_iterator at(folder, code), end; !code && at != end; at.increment(code))
        if (const std::string name = at->path().filename().string(); !ours(name))
            names.push_back((folder / name).string());
    std::sort(names.begin(), names.end());
    return names;
}

void require_same(const fs::path& file, const std::string& configuration) {
    if (path_exists(file) && load_field_case(file).configuration != configuration)
        fail_usage(fmt::format("'{}' is of another configuration", file.string()),
                   "choose another RunOptions::folder, or remove this one to do it again");
}

/// Refuses a folder that holds something else, before anything is made.
void require_own_folders(const FieldStudy& study, const std::vector<Bench>& benches,
                         const std::vector<FieldCandidate>& candidates) {
    const fs::path& out = study.folder;
    for (const char* name : {"model.safetensors", "checkpoint.safetensors", "compare.json"})
        if (path_exists(out / name))
            fail_usage(
                fmt::format("'{}' holds {}, which is not of a benchmark", out.string(), name),
                "choose another RunOptions::folder");
    std::vector<std::string> others = strangers(out / kNetworks, [&](const std::string& name) {
        return std::any_of(candidates.begin(), candidates.end(),
                           [&](const FieldCandidate& c) { return c.field.name == name; });
    });
    for (std::string& name : strangers(out / kReferences, [&](const std::string& file) {
             return std::any_of(benches.begin(), benches.end(), [&](const Bench& b) {
                 return file.starts_with(b.field.name + ".json");
             });
         }))
        others.push_back(std::move(name));
    if (!others.empty())
        fail_usage(fmt::format("'{}' is not of this benchmark", others.front()),
                   "choose another RunOptions::folder");
    for (const Bench& bench : benches) require_same(bench.file, bench.configuration);
    for (const FieldCandidate& c : candidates) {
        require_same(c.file(), c.configuration);
        if (!path_exists(c.file()) && path_exists(c.run.folder / "checkpoint.safetensors"))
            fail_usage(
                fmt::format("'{}' holds a run that is not of a benchmark", c.run.folder.string()),
                "choose another RunOptions::folder");
    }
}

std::string stage_words(const Recipe& recipe) {
    std::string words;
    for (const Stage& stage : recipe.stages)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", stage.name, stage.epochs);
    return words;
}

/// Trains a case to its end and keeps what came of it; nothing when it was asked to stop.
std::optional<FieldCaseFile> train_case(const FieldCandidate& c, TrainingProgress& progress,
                                        ThreadPool& pool) {
    const RunFolders folders(c.run);
    FieldCaseFile file{c.configuration, {}, stage_words(c.run.train.recipe), 0};
    save_field_case(c.file(), file);
    const SeedProblems problems = make_problems(c.run.config, c.run.train.seeds, pool);
    const std::vector<SeedRun> seeds = train_seeds(c.run, problems, progress, c.work, pool);
    if (!all_finished(seeds)) return {};
    seeds.front().result.model.save(c.run.folder / "model.safetensors");
    write_file(c.run.folder / "summary.json", summary_json(c.run, seeds).dump(2) + "\n");
    file.seconds = over_seeds(seeds, [](const SeedRun& seed) {
                       double sum = 0;
                       for (const auto& stage : seed.result.seconds) sum += stage.second;
                       return sum;
                   }).mean;
    if (const std::size_t steps = seeds.front().result.model.spec.polish; steps > 0)
        file.stages += fmt::format(", polish {} steps", steps);
    file.rows = network_rows(c.field, seeds, pool);
    save_field_case(c.file(), file);
    return file;
}

FieldCaseFile measure_bench(const Bench& bench, ThreadPool& pool) {
    FieldCaseFile file{
        bench.configuration,
        reference_rows(bench.field, make_problems(bench.config, bench.seeds, pool), pool), "", 0};
    save_field_case(bench.file, file);
    return file;
}

std::optional<FieldCaseFile> finished_case(const fs::path& path) {
    if (!path_exists(path)) return {};
    FieldCaseFile file = load_field_case(path);
    if (file.rows.empty()) return {};
    return file;
}

void add_rows(FieldReport& report, const std::vector<FieldRow>& rows) {
    report.rows.insert(report.rows.end(), rows.begin(), rows.end());
}

/// Published figures on problems of this benchmark.
void add_published(FieldReport& report, const FieldPlan& plan) {
    for (const std::string_view source : published_sources()) report.sources.emplace_back(source);
    // All of them are of the benchmark itself.
    if (plan.m != field_plan(false).m) return;
    for (const PublishedFigure& figure : published_figures()) {
        FieldRow row;
        row.kind = FieldRow::Kind::published;
        row.method = figure.method;
        row.ensemble = "gaussian";
        row.n = figure.n;
        row.layers = figure.layers;
        row.snr_db = ratio_of(figure.noise);
        row.energy_nmse_db = {figure.energy_nmse_db, 0, 1};
        row.source = figure.source;
        report.rows.push_back(std::move(row));
    }
}

/// Everything that is asked for, made by the settings alone.
struct Work {
    std::vector<Bench> benches;
    std::vector<FieldCandidate> candidates;

    explicit Work(const FieldStudy& study) {
        require_field_settings(study.settings);
        const FieldPlan plan = with_networks(field_plan(study.quick), study.networks);
        for (FieldReference& reference : field_references(plan, study.settings))
            benches.push_back(make_bench(study, std::move(reference)));
        for (FieldCase& field : field_cases(plan, study.settings))
            candidates.push_back(make_candidate(study, std::move(field)));
    }
    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (const FieldCandidate& c : candidates) sum += c.work * c.epochs();
        return sum;
    }
};

/// Does what is left to do, one case per rank at a time, and leaves the files of the cases. False
/// when the listener asked to stop.
bool run_dealt(const Work& work, const ProgressSink& listener, ThreadPool& pool,
               Communicator& ranks) {
    const std::size_t benches = work.benches.size();
    std::vector<std::size_t> order;
    if (ranks.first()) {
        for (std::size_t i = 0; i < work.candidates.size(); ++i)
            if (!finished_case(work.candidates[i].file())) order.push_back(benches + i);
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            const FieldCandidate &one = work.candidates[a - benches],
                                 &other = work.candidates[b - benches];
            return one.work * one.epochs() > other.work * other.epochs();
        });
        // The references of a problem take minutes, as a long training does.
        for (std::size_t i = benches; i-- > 0;)
            if (!finished_case(work.benches[i].file)) order.insert(order.begin(), i);
    }
    TrainingProgress progress(listener, work.total());
    Dealer dealer(ranks, std::move(order), progress);
    try {
        while (const auto next = dealer.next()) {
            if (*next < benches)
                measure_bench(work.benches[*next], pool);
            else if (!train_case(work.candidates[*next - benches], dealer.progress(), pool))
                break;
            dealer.finished(*next);
        }
    } catch (const Error& error) {
        dealer.progress().stop();
        if (!dealer.fail(error)) throw;
    }
    dealer.close();
    return !progress.stopped();
}

/// Does what is left to do; false when the listener asked to stop.
bool run_all(const Work& work, const ProgressSink& listener, FieldResult& result,
             ThreadPool& pool) {
    std::vector<FieldRow> references;
    std::uint64_t restored = 0;
    for (const Bench& bench : work.benches) {
        std::optional<FieldCaseFile> file = finished_case(bench.file);
        if (!file) {
            if (listener && !listener({"references", result.done, work.benches.size(),
                                       bench.field.name, restored}))
                return false;
            file = measure_bench(bench, pool);
        } else {
            ++restored;
        }
        references.insert(references.end(), file->rows.begin(), file->rows.end());
        ++result.done;
    }
    TrainingProgress progress(listener, work.total());
    for (const FieldCandidate& c : work.candidates) {
        std::optional<FieldCaseFile> file = finished_case(c.file());
        if (file)
            progress.sink(c.work,
                          c.field.name)({"training", c.epochs(), c.epochs(), "", c.epochs()});
        else if (!progress.stopped())
            file = train_case(c, progress, pool);
        if (!file || progress.stopped()) return false;
        add_rows(result.report, file->rows);
        result.report.trainings.push_back(
            {method_of(c.field), std::string(c.field.network.ensemble), c.field.n, c.field.layers,
             noise_words(c.field.noise), file->stages, file->seconds, c.run.command});
        ++result.done;
    }
    add_rows(result.report, references);
    return true;
}

}  // namespace

FieldResult run_field(const FieldStudy& study, const ProgressSink& listener, ThreadPool& pool,
                      Communicator& ranks) {
    const Work work(study);
    make_backend(study.device);  // refuses one that is not there before references take minutes
    RunFolders folders;
    if (ranks.first()) {
        require_own_folders(study, work.benches, work.candidates);
        for (const fs::path& folder :
             {study.folder, study.folder / kReferences, study.folder / kNetworks})
            folders.add(folder);
        require_own_folders(study, work.benches, work.candidates);  // nothing came in between
    }
    ranks.barrier();

    FieldResult result;
    result.cases = work.benches.size() + work.candidates.size();
    FieldReport& report = result.report;
    const FieldPlan& plan = field_plan(study.quick);
    report.m = plan.m;
    report.seeds = work.candidates.front().run.train.seeds;
    report.reference_seeds = work.benches.front().seeds;
    report.device = study.device;
    report.machine = study.machine;
    report.date = study.date;
    report.command = study.command + " --out DIR";
    report.version = version();
    // With several ranks everything is in the files when they are through, and read again here.
    const bool dealt = !ranks.several() || run_dealt(work, listener, pool, ranks);
    if (!ranks.first()) return result;
    result.finished = dealt && run_all(work, listener, result, pool);
    if (!result.finished) return result;
    add_published(report, plan);
    write_file(study.folder / "field.html", field_report(report));
    write_file(study.folder / kFieldFile, field_json(report).dump(2) + "\n");
    return result;
}

}  // namespace pibinn::study
