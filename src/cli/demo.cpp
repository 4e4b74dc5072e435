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

/// A noisy problem whose operator is of signs, and a network that is tied to it: the operator is
/// all there is to store but for a few numbers per layer.
constexpr const char* kSettings[] = {"problem.m=250",
                                     "problem.n=500",
                                     "problem.density=0.1",
                                     "problem.snr_db=20",
                                     "problem.operator=rademacher",
                                     "model.weights=tied",
                                     "model.activation=piecewise",
                                     "model.layers=8"};

TrainingRun demo_run(const std::string& folder, const std::vector<std::string>& sets) {
    TrainingRun run;
    std::vector<std::string> all(std::begin(kSettings), std::end(kSettings));
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

/// "OMP 23, AMP, Bernoulli-Gaussian 98": what recovers such signals at all, by the time that one
/// signal takes, in times of ours. Linear estimates and short iterations are not among them.
std::string slower_methods(const Comparison& comparison) {
    const ComparisonRow& ours = comparison.rows().back();
    std::string text;
    for (const ComparisonRow& row : comparison.rows()) {
        const bool recovers = row.metrics.energy_nmse_db < ours.metrics.energy_nmse_db / 2;
        if (row.bound || &row == &ours || !recovers) continue;
        text += fmt::format("  {:<26} {:>6.1f} times the latency, {:+.1f} dB\n", row.method,
                            row.time.latency_us / ours.time.latency_us,
                            row.metrics.energy_nmse_db - ours.metrics.energy_nmse_db);
    }
    return text;
}

}  // namespace

void run_demo(const Arguments& arguments) {
    CommandLine line("demo",
                     "Trains a network of eight layers, tied to its operator of +-1, on noisy "
                     "measurements (250 x 500, 10 % of entries non-zero, 20 dB) and compares it "
                     "with what a user would pick instead.",
                     "pibinn demo --out demo");
    std::string folder;
    std::vector<std::string> sets;
    line.required("--out", folder, "folder for model, summary and report; made if missing", "DIR");
    line.optional("--set", sets, "set a key of the configuration, such as model.layers=5",
                  "KEY=VALUE");
    if (!line.parse(arguments)) return;
    Console console(line.output());

    const TrainingRun run = demo_run(folder, sets);
    line.require_other_json(run.config.problem.inputs());
    const RunFolders folders(run);
    ThreadPool pool(line.threads());
    const std::vector<SeedRun> seeds = run_training(run, console, pool);
    const SeedRun& first = seeds.front();

    const NetworkSpec& spec = first.result.model.spec;
    Comparison comparison(*first.problem, pool);
    comparison.add_references(spec.layers);
    comparison.add_trained(
        fmt::format("{} network, {} layers, trained", to_string(spec.weights), spec.layers),
        first.result);

    const std::filesystem::path out = folder;
    const nlohmann::ordered_json summary = write_results(run, seeds, comparison, pool);

    const Problem& problem = *first.problem;
    const BitCount bits = count_bits(first.result.model);
    const std::string slower = slower_methods(comparison);
    console.say(fmt::format(
        "{}\n{} test signals of {} entries from {} measurements each, {} noise\n\n{}\n{}"
        "The model stores {} bits, of which {} are the operator alone.\n"
        "On very sparse signals without noise OMP is exact, and as fast. The paper's problem:\n"
        "  pibinn train --set model.layers=10 --out paper\n"
        "Written: {}\n         {}\nLook at: {}\n",
        model_lines(first.result.model), problem.test.x.rows(), problem.op.cols(),
        problem.op.rows(), problem.traits().disturbed ? "with" : "without", comparison.text(),
        slower.empty() ? "" : "What else recovers such signals, beside the network:\n" + slower,
        grouped(bits.total), grouped(bits.op), (out / "model.safetensors").string(),
        (out / "summary.json").string(), (out / "report.html").string()));
    console.result(summary);
}

}  // namespace pibinn::cli
