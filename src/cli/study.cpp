#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "core/machine.hpp"
#include "pibinn/error.hpp"
#include "study/grid_study.hpp"

namespace pibinn::cli {

namespace {

std::string grid_command(const GridStudy& study) {
    std::string words = "pibinn study " + shell_word(study.file);
    for (const std::string& set : study.settings) words += " --set " + shell_word(set);
    if (study.seeds > 0) words += fmt::format(" --seeds {}", study.seeds);
    if (study.many) words += " --yes";
    if (study.device != "cpu") words += " --device " + study.device;
    return words;
}

}  // namespace

void run_study(const Arguments& arguments) {
    CommandLine line("study",
                     "Trains every combination of values of a grid, side by side over the cores: "
                     "results.csv, results.md, results.json, report.html, and a folder per "
                     "training. A grid is a configuration with a section [grid] of lists, such as "
                     "model.layers = [5, 10]. Ctrl-C saves, and the same command goes on.",
                     "pibinn study grid.toml --seeds 3 --out study");
    GridStudy study;
    std::string out;
    line.required("GRID", study.file, "configuration with a section [grid]");
    line.optional("--set", study.settings, "set a key over the file, such as problem.m=32",
                  "KEY=VALUE");
    line.optional("--seeds", study.seeds, "of each combination, for train.seeds", "N");
    line.optional("--device", study.device, "where to train: cpu, cuda or cuda-tf32", "NAME");
    line.flag("--yes", study.many, "train more than 1000 cells");
    line.required("--out", out, "folder of the study; made if missing", "DIR");
    line.takes_ranks();
    if (!line.parse(arguments)) return;
    if (line.given("--seeds") && study.seeds == 0)
        fail_usage("--seeds 0 trains nothing", "give 1 or more");
    Console console(line.output());

    study.folder = out;
    study.inputs_known = [&](std::vector<std::string> inputs) {
        line.require_other_json(inputs);
        inputs.push_back(study.file);
        for (const std::string& name : grid_files())
            require_other_file((study.folder / name).string(), inputs);
    };
    study.machine = machine_text(study.device);
    study.date = today();
    study.command = grid_command(study);
    ThreadPool pool(line.threads());
    const Interrupt interrupt;
    const GridResult result = run_grid(study, console.listener(interrupt), pool, ranks());
    console.clear_progress();
    if (!ranks().first()) return;
    if (!result.finished)
        throw Error(ErrorKind::failed,
                    fmt::format("stopped after {} of {} trainings, all of them and the checkpoints "
                                "of the next saved in '{}'",
                                result.done, result.cells, out),
                    fmt::format("go on with: {} --out {}", study.command, shell_word(out)));
    console.say(fmt::format("{}\nWritten: {}\n", table_text(grid_table(result.report), kTitleWidth),
                            (study.folder / "{results.csv,results.md,report.html}").string()));
    console.result(grid_json(result.report));
}

}  // namespace pibinn::cli
