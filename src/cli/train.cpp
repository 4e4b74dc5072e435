#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "cli/training.hpp"
#include "pibinn/error.hpp"
#include "study/comparison.hpp"
#include "study/config_document.hpp"
#include "study/run_folder.hpp"
#include "study/run_report.hpp"

namespace pibinn::cli {

namespace {

using nlohmann::ordered_json;

/// The files of a run, as a shell would take them.
std::string written(const TrainingRun& run) {
    if (run.train.seeds == 1)
        return (run.folder / "{model.safetensors,summary.json,history.csv,report.html}").string();
    return fmt::format("{} {}",
                       (run.folder / "{model.safetensors,summary.json,report.html}").string(),
                       (run.folder / "seed-*/{model.safetensors,history.csv}").string());
}

}  // namespace

void run_train(const Arguments& arguments) {
    CommandLine line("train",
                     "Trains the network of a configuration and writes model.safetensors, "
                     "summary.json, history.csv and report.html. Ctrl-C saves; --resume goes on.",
                     "pibinn train --set model.layers=10 --out run");
    line.takes_ranks();
    ConfigOptions configuration;
    configuration.add_to(line);
    std::string folder;
    TrainingRun run;
    line.required("--out", folder, "folder of the run; made if missing", "DIR");
    line.optional("--device", run.device, "where to train: cpu, cuda or cuda-tf32", "NAME");
    line.flag("--resume", run.resume, "go on with the run that the folder holds");
    if (!line.parse(arguments)) return;
    Console console(line.output());

    const ConfigDocument document = configuration.document();
    run.config = configuration.load(document);
    run.train = read_train_config(document, run.config);
    run.folder = folder;
    run.command = "pibinn train" + configuration.words();
    RunFolders folders;
    if (ranks().first()) {
        require_runnable(run);
        folders.add(run);
    }

    ThreadPool pool(line.threads());
    const std::vector<SeedRun> seeds = run_training(run, console, pool);
    if (!ranks().first()) return;
    const SeedRun& first = seeds.front();
    const Comparison comparison = compare_run(run, first, pool);
    const ordered_json summary = write_results(run, seeds, comparison, pool);

    if (first.certificate)
        console.say(fmt::format("{}: {}\n\n", to_string(first.certificate->verdict),
                                first.certificate->statement()));
    console.say(fmt::format(
        "{}\ntest nmse {:.2f} dB, training nmse {:.2f} dB{}{}\n{}\n{}\n{}\nWritten: {}\n",
        model_lines(first.result.model), summary["test_nmse_db"].get<double>(),
        summary["train_nmse_db"].get<double>(),
        seeds.size() > 1 ? fmt::format(" (mean of {} seeds; test deviation {:.2f} dB)",
                                       seeds.size(), summary["std"]["test_nmse_db"].get<double>())
                         : "",
        summary.contains("test_psnr_db")
            ? fmt::format(", test PSNR {:.2f} dB", summary["test_psnr_db"].get<double>())
            : "",
        data_lines(seeds), bits_table(first.result.model), comparison.text(), written(run)));
    console.result(summary);
}

}  // namespace pibinn::cli
