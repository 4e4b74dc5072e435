#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/training.hpp"
#include "core/numbers.hpp"
#include "study/comparison.hpp"
#include "study/config_document.hpp"
#include "study/run_folder.hpp"
#include "study/run_report.hpp"

namespace pibinn::cli {

namespace {

constexpr std::size_t kLayers = 10;

/// The embedded default problem and a network of ten one-bit layers for it.
TrainingRun demo_run(const std::string& folder, const std::vector<std::string>& sets) {
    TrainingRun run;
    std::vector<std::string> all{fmt::format("model.layers={}", kLayers)};
    all.insert(all.end(), sets.begin(), sets.end());
    const ConfigDocument document("", all);
    run.config = read_config(document);
    run.train = read_train_config(document, run.config);
    run.folder = folder;
    run.replaces = true;
    run.command = "pibinn train";
    for (const std::string& set : all) run.command += " --set " + shell_word(set);
    return run;
}

}  // namespace

void run_demo(const Arguments& arguments) {
    CommandLine line("demo",
                     "Trains a network of ten one-bit layers on the embedded default problem "
                     "(50 x 100, 5 % of entries non-zero, 4000 training and 1000 test signals) and "
                     "compares it with what a user would pick instead.",
                     "pibinn demo --out demo");
    std::string folder;
    std::vector<std::string> sets;
    line.required("--out", folder, "folder for model, summary and report; made if missing", "DIR");
    line.optional("--set", sets, "set a key of the configuration, such as model.layers=5",
                  "KEY=VALUE");
    if (!line.parse(arguments)) return;
    Console console(line.output());

    const TrainingRun run = demo_run(folder, sets);
    line.require_other_json(inputs_of(run.config));
    const RunFolders folders(run);
    ThreadPool pool(line.threads());
    const std::vector<SeedRun> seeds = run_training(run, console, pool);
    const SeedRun& first = seeds.front();

    NetworkSpec untrained = run.config.model;
    untrained.weights = WeightKind::real;
    untrained.update = Update::plain();
    Comparison comparison(*first.problem, pool);
    comparison.add_references(untrained.layers);
    comparison.add_model(fmt::format("float network, {} layers, untrained", untrained.layers),
                         untrained_model(untrained, first.problem->op, 0.01), false);
    const NetworkSpec& spec = run.config.model;
    comparison.add_trained(
        fmt::format("{} network, {} layers, trained", to_string(spec.weights), spec.layers),
        first.result);

    const std::filesystem::path out = folder;
    const nlohmann::ordered_json summary = write_results(run, seeds, comparison, pool);

    const Problem& problem = *first.problem;
    const BitCount bits = count_bits(first.result.model);
    console.say(fmt::format(
        "{}\n{} test signals of {} entries from {} measurements each, {} noise\n\n{}\n"
        "OMP is exact on small problems without noise; a fixed latency and a fixed small size are "
        "what the\nnetwork is for. ISTA and FISTA use the best of a few lambdas, chosen on "
        "training signals.\n"
        "The trained model stores {} bits by the paper's count, {} bits with operator and "
        "scales.\nWritten: {}\n         {}\nLook at: {}\n",
        model_lines(first.result.model), problem.test.x.rows(), problem.op.cols(),
        problem.op.rows(), problem.traits().disturbed ? "with" : "without", comparison.text(),
        grouped(bits.paper), grouped(bits.total), (out / "model.safetensors").string(),
        (out / "summary.json").string(), (out / "report.html").string()));
    console.result(summary);
}

}  // namespace pibinn::cli
