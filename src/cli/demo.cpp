#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/training.hpp"
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
                         untrained_model(untrained, first.problem->op, 0.01));
    const NetworkSpec& spec = run.config.model;
    comparison.add_model(
        fmt::format("{} network, {} layers, trained", to_string(spec.weights), spec.layers),
        first.result.model);

    const std::filesystem::path out = folder;
    const nlohmann::ordered_json summary = write_results(run, seeds, comparison, pool);

    console.say(fmt::format(
        "{}\n{} test signals of {} entries from {} measurements each{}\n\n{}\n"
        "Solvers use the best of a few lambdas, chosen on training signals. Times are per signal "
        "of the whole\ntest batch on {} thread(s). The model stores {} bits the paper's way, {} in "
        "all, operator included.\nWritten: {}\n         {}\nLook at: {}\n",
        model_line(first.result.model), first.problem->test.x.rows(), first.problem->op.cols(),
        first.problem->op.rows(), first.problem->noise_std > 0 ? ", with noise" : ", without noise",
        comparison.table(), pool.threads(), count_bits(first.result.model).paper,
        count_bits(first.result.model).total, (out / "model.safetensors").string(),
        (out / "summary.json").string(), (out / "report.html").string()));
    console.result(summary);
}

}  // namespace pibinn::cli
