#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/comparison.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/problem_source.hpp"
#include "cli/real_source.hpp"
#include "cli/run_folder.hpp"
#include "cli/run_report.hpp"
#include "cli/schemes.hpp"
#include "cli/training_run.hpp"
#include "core/file.hpp"
#include "pibinn/error.hpp"
#include "pibinn/sparsity.hpp"
#include "pibinn/version.hpp"
#include "report/schemes_report.hpp"

namespace pibinn::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kResult = "compare.json";

struct Options {
    ConfigOptions configuration;
    SchemeChoice choice;
    std::size_t seeds = 0;  ///< 0: those of the configuration
    std::string out;
    bool resume = false;

    void add_to(CommandLine& line) {
        configuration.add_to(line);
        line.optional("--weights", choice.weights,
                      "of float, one-bit, one-bit-layer, one-bit-channel, ternary (all)", "LIST");
        line.optional("--structure", choice.structures,
                      "of the network: the problem's own and dense (both)", "LIST");
        line.optional("--architecture", choice.architectures,
                      "of unrolled, fcn-relu, fcn-soft (all)", "LIST");
        line.optional("--seeds", seeds, "trainings of each scheme, for train.seeds", "N");
        line.required("--out", out, "folder of the comparison; made if missing", "DIR");
        line.app().add_flag("--resume", resume, "go on with the comparison that the folder holds");
    }
    /// An empty list is one that a script could not fill, not a wish for everything.
    void require_some(CommandLine& line) const {
        for (const auto& [option, list] :
             {std::pair{"--weights", &choice.weights}, std::pair{"--structure", &choice.structures},
              std::pair{"--architecture", &choice.architectures}})
            if (line.app().count(option) > 0 && list->empty())
                fail_usage(fmt::format("{} is an empty list", option),
                           "name some, or leave the option out for all");
        if (line.app().count("--seeds") > 0 && seeds == 0)
            fail_usage("--seeds 0 trains nothing", "give 1 or more");
    }
    std::string command() const {
        std::string words = "pibinn compare" + configuration.words();
        const auto add = [&](const char* option, const std::string& value) {
            if (!value.empty()) words += fmt::format(" {} {}", option, shell_word(value));
        };
        add("--weights", choice.weights);
        add("--structure", choice.structures);
        add("--architecture", choice.architectures);
        if (seeds > 0) add("--seeds", std::to_string(seeds));
        return words;
    }
};

/// A scheme, the training of it, and what that costs.
struct Candidate {
    Scheme scheme;
    TrainingRun run;
    std::uint64_t work = 1;  ///< of an epoch, in thousands of products a signal
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

Candidate make_candidate(const Options& options, const Scheme& scheme,
                         const ConfigDocument& document, const Config& config,
                         const Structure& physics) {
    Candidate c{scheme, {}, 1};
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
    if (options.seeds > 0) c.run.train.seeds = options.seeds;
    c.run.folder = fs::path(options.out) / scheme.folder();
    c.run.resume = options.resume;
    c.run.command = options.command();
    c.run.label = scheme.folder();
    c.work = work_of(c.run.config, physics);
    return c;
}

/// Schemes that the folder holds finished and that are not asked for now.
std::vector<std::string> finished_others(const fs::path& out,
                                         const std::vector<Candidate>& candidates) {
    std::vector<std::string> others;
    std::error_code code;
    for (fs::directory_iterator at(out, code), end; !code && at != end; at.increment(code)) {
        const std::string name = at->path().filename().string();
        const bool asked =
            std::any_of(candidates.begin(), candidates.end(),
                        [&](const Candidate& c) { return c.scheme.folder() == name; });
        if (!asked && fs::exists(at->path() / "summary.json")) others.push_back(name);
    }
    std::sort(others.begin(), others.end());
    return others;
}

/// Refuses a folder that holds something else, before anything is made.
void require_own_folders(const Options& options, const std::vector<Candidate>& candidates) {
    const fs::path out = options.out;
    if (fs::exists(out / kResult) && !options.resume)
        fail_usage(fmt::format("'{}' already holds a comparison", out.string()),
                   "choose another --out, or add --resume to go on with it");
    if (fs::exists(out / "model.safetensors") || fs::exists(out / "checkpoint.safetensors"))
        fail_usage(fmt::format("'{}' holds a training, not a comparison", out.string()),
                   "choose another --out");
    for (const Candidate& c : candidates) require_own_folder(c.run);
    const std::vector<std::string> others = finished_others(out, candidates);
    if (options.resume && !others.empty())
        fail_usage(fmt::format("'{}' also holds {}, which would drop out of the table",
                               out.string(), fmt::join(others, ", ")),
                   "name these schemes too, or choose another --out");
}

/// The references on the problem of every seed, in the same order for each. Only the first is kept
/// with its problem: that is what the networks of the first seed are shown beside.
struct References {
    Problem problem;
    std::unique_ptr<Comparison> first;
    std::vector<ReferenceRow> rows;

    References(const Config& config, std::size_t seeds, Console& console, ThreadPool& pool) {
        std::vector<std::vector<double>> nmse;
        for (std::size_t i = 0; i < seeds; ++i) {
            Config own = config;
            own.seed += i;
            Problem drawn = make_problem(own, pool);
            Problem& used = i == 0 ? problem : drawn;
            if (i == 0) problem = std::move(drawn);
            auto comparison = std::make_unique<Comparison>(used, 0, console, pool);
            comparison->add_references(config.model.layers);
            const std::vector<Entry>& entries = comparison->entries();
            nmse.resize(entries.size());
            for (std::size_t e = 0; e < entries.size(); ++e)
                nmse[e].push_back(entries[e].metrics.nmse_db);
            if (i == 0) first = std::move(comparison);
        }
        for (std::size_t e = 0; e < nmse.size(); ++e) {
            const Entry& entry = first->entries()[e];
            rows.push_back({entry.method, spread(nmse[e]), entry.microseconds, entry.stored_bits});
        }
    }
};

template <class Get>
Spread over(const std::vector<SeedRun>& seeds, const Get& get) {
    std::vector<double> values;
    for (const SeedRun& seed : seeds) values.push_back(get(seed));
    return spread(values);
}

SchemeRow make_row(const Scheme& scheme, const std::vector<SeedRun>& seeds, double microseconds) {
    const Model& model = seeds.front().result.model;
    SchemeRow row;
    row.scheme = scheme.name;
    row.structure = scheme.structure;
    row.ours = scheme.ours;
    row.train_nmse_db = over(seeds, [](const SeedRun& s) { return s.result.train.nmse_db; });
    row.test_nmse_db = over(seeds, [](const SeedRun& s) { return s.result.test.nmse_db; });
    row.links = model.links();
    row.bits = count_bits(model);
    row.sparsity = over(seeds, [](const SeedRun& s) { return sparsity(s.result.model); }).mean;
    const Structure& physics = seeds.front().problem.op.structure();
    if (model.spec.weights == WeightKind::ternary && scheme.structure == "dense" &&
        physics.kind() != StructureKind::dense && overlap(model, physics))
        row.overlap = over(seeds, [](const SeedRun& s) {
                          return *overlap(s.result.model, s.problem.op.structure());
                      }).mean;
    row.microseconds = microseconds;
    row.seconds = over(seeds, [](const SeedRun& s) {
                      double sum = 0;
                      for (const auto& stage : s.result.seconds) sum += stage.second;
                      return sum;
                  }).mean;
    return row;
}

/// Trains the schemes one after the other, the seeds of each side by side. A scheme that an earlier
/// start has finished goes on from its last checkpoint: there is nothing left to train.
std::vector<SchemeRow> train_all(const Options& options, const std::vector<Candidate>& candidates,
                                 const References& references, Console& console, ThreadPool& pool) {
    std::uint64_t total = 0;
    for (const Candidate& c : candidates)
        total += c.work * c.run.train.seeds * c.run.train.recipe.epochs();
    const Interrupt interrupt;
    TrainingBar bar(console, interrupt, total);
    std::vector<SchemeRow> rows;
    for (const Candidate& c : candidates) {
        const std::vector<SeedRun> seeds = train_seeds(c.run, bar, c.work, pool);
        if (!all_finished(seeds)) {
            console.clear_progress();
            throw Error(ErrorKind::failed,
                        fmt::format("stopped after {} of {} schemes, all of them and the "
                                    "checkpoint of the next saved in '{}'",
                                    rows.size(), candidates.size(), options.out),
                        fmt::format("go on with: {} --out {} --resume", options.command(),
                                    shell_word(options.out)));
        }
        Comparison comparison = *references.first;
        comparison.add_model(c.scheme.folder(), seeds.front().result.model);
        write_results(c.run, seeds, comparison, pool);
        rows.push_back(make_row(c.scheme, seeds, comparison.entries().back().microseconds));
    }
    console.clear_progress();
    return rows;
}

std::vector<std::string> facts_of(const Config& config, const Problem& problem,
                                  const TrainConfig& train) {
    const Structure& s = problem.op.structure();
    std::vector<std::string> facts{
        fmt::format("{} × {} {}", s.rows(), s.cols(), to_string(s.kind())),
        fmt::format("K = {} layers", config.model.layers),
        fmt::format("{} update", to_string(config.model.update)),
        fmt::format("recipe {}", train.recipe.name),
        train.seeds == 1 ? fmt::format("seed {}", config.seed)
                         : fmt::format("{} seeds from {}", train.seeds, config.seed)};
    return facts;
}

ordered_json number_or_null(const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
}

ordered_json result_json(const SchemesReport& report, const std::vector<Candidate>& candidates) {
    const std::vector<std::size_t> front = networks_front(report);
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const SchemeRow& r = report.rows[i];
        rows.push_back({{"scheme", r.scheme},
                        {"structure", r.structure},
                        {"train_nmse_db", r.train_nmse_db.mean},
                        {"test_nmse_db", r.test_nmse_db.mean},
                        {"gap_db", r.gap_db()},
                        {"std",
                         {{"train_nmse_db", r.train_nmse_db.deviation},
                          {"test_nmse_db", r.test_nmse_db.deviation}}},
                        {"links", r.links},
                        {"bits", bits_json(r.bits)},
                        {"sparsity", r.sparsity},
                        {"overlap", number_or_null(r.overlap)},
                        {"microseconds_per_signal", r.microseconds},
                        {"seconds", r.seconds},
                        {"front", std::find(front.begin(), front.end(), i) != front.end()},
                        {"folder", candidates[i].scheme.folder()}});
    }
    ordered_json references = ordered_json::array();
    for (const ReferenceRow& r : report.references)
        references.push_back({{"method", r.method},
                              {"test_nmse_db", r.nmse_db.mean},
                              {"stored_bits", r.bits},
                              {"microseconds_per_signal", r.microseconds}});
    return {{"problem", report.problem},
            {"seeds", candidates.front().run.train.seeds},
            {"rows", rows},
            {"references", references},
            {"verdicts", verdicts(report)},
            {"version", report.version}};
}

}  // namespace

void run_compare(const Arguments& arguments) {
    CommandLine line("compare",
                     "Trains the networks of several weight kinds and structures on one problem, "
                     "and puts them side by side with the methods that need no network: "
                     "compare.json, compare.csv and report.html, and a folder as 'pibinn train' "
                     "writes it for every scheme. Ctrl-C saves; --resume goes on.",
                     "pibinn compare --set problem.structure=repeated --set problem.repeat=4 "
                     "--set model.layers=10 --weights one-bit,ternary --out schemes");
    Options options;
    options.add_to(line);
    if (!line.parse(arguments)) return;
    options.require_some(line);
    Console console(line.speech());

    const ConfigDocument document = options.configuration.document();
    const Config config = options.configuration.load(document);
    ThreadPool pool(line.threads());
    const Structure physics = make_frame(config, pool).op.structure();
    std::vector<Candidate> candidates;
    for (const Scheme& scheme : choose_schemes(options.choice, physics.kind()))
        candidates.push_back(make_candidate(options, scheme, document, config, physics));
    require_own_folders(options, candidates);
    RunFolders folders;
    for (const Candidate& c : candidates) folders.add(c.run);

    const TrainingRun& any = candidates.front().run;
    const References references(config, any.train.seeds, console, pool);
    console.note(short_notes(references.problem));
    SchemesReport report;
    report.problem = problem_line(config, references.problem);
    report.facts = facts_of(any.config, references.problem, any.train);
    report.references = references.rows;
    report.rows = train_all(options, candidates, references, console, pool);
    report.command = options.command() + " --out DIR";
    report.version = version();

    const fs::path out = options.out;
    const ordered_json result = result_json(report, candidates);
    write_file(out / "compare.csv", schemes_csv(report));
    write_file(out / "report.html", schemes_report(report));
    write_file(out / kResult, result.dump(2) + "\n");
    std::string text = table_text(schemes_table(report));
    if (std::any_of(report.rows.begin(), report.rows.end(),
                    [](const SchemeRow& row) { return row.ours; }))
        text += "* the PIBiNN: one bit a link, one scale, the problem's own structure\n";
    text += "\n" + table_text(references_table(report)) + "\n";
    for (const std::string& sentence : verdicts(report)) text += sentence + "\n";
    console.say(text + fmt::format("Written: {}\n",
                                   (out / "{compare.json,compare.csv,report.html}").string()));
    console.result(result);
}

}  // namespace pibinn::cli
