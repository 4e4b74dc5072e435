#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commit.hpp"
#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "core/machine.hpp"
#include "pibinn/error.hpp"
#include "study/field_study.hpp"
#include "study/reproduction.hpp"

namespace pibinn::cli {

namespace {

/// With the folders of this machine, or with words in their place for who reads the results.
std::string command_of(const ReproductionRequest& request, bool folders) {
    std::string words = "pibinn reproduce";
    for (const std::string& id : request.ids) words += " " + shell_word(id);
    if (request.seeds > 0) words += fmt::format(" --seeds {}", request.seeds);
    if (request.quick) words += " --quick";
    if (!request.images.empty())
        words += " --images " + (folders ? shell_word(request.images) : "IMAGES");
    if (request.device != "cpu") words += " --device " + request.device;
    if (!request.eeg.empty()) words += " --eeg " + (folders ? shell_word(request.eeg) : "EEG");
    return words;
}

}  // namespace

void run_reproduce(const Arguments& arguments) {
    CommandLine line("reproduce",
                     "Makes the tables, figures and claims of the paper again, beside the "
                     "published values: results.md, report.html, a Markdown and a CSV table per "
                     "experiment, SVG figures, and a folder per training. Rows without their data "
                     "are marked. 'field' is the benchmark of 'pibinn field'. Ctrl-C saves, and "
                     "the same command goes on.",
                     "pibinn reproduce table1 scale --seeds 3 --out paper");
    ReproductionRequest request;
    std::string out;
    line.optional("ID", request.ids, "experiments (all)", "ID");
    line.required("--out", out, "folder of the results; made if missing", "DIR");
    line.optional("--seeds", request.seeds, "of each training (5; with --quick 1)", "N");
    line.flag("--quick", request.quick, "few signals and epochs: minutes for everything");
    line.optional("--images", request.images, "pictures, such as BSDS500/data/images", "FOLDER");
    line.optional("--eeg", request.eeg, "segments in the layout of EEGdenoiseNet", "FOLDER");
    line.optional("--device", request.device, "where to train: cpu, cuda or cuda-tf32", "NAME");
    line.takes_ranks();
    if (!line.parse(arguments)) return;
    if (line.given("--seeds") && request.seeds == 0)
        fail_usage("--seeds 0 trains nothing", "give 1 or more");
    line.require_other_json({request.images, request.eeg});
    Console console(line.output());

    request.folder = out;
    request.machine = machine_text(request.device);
    request.date = today();
    request.command = command_of(request, false);
    request.commit = commit();
    ThreadPool pool(line.threads());
    const Interrupt interrupt;
    const ReproductionResult result =
        reproduce(request, console.listener(interrupt), pool, ranks());
    console.clear_progress();
    if (!ranks().first()) return;
    if (!result.finished)
        throw Error(
            ErrorKind::failed,
            fmt::format("stopped after {} of {} trainings, all of them and the checkpoints "
                        "of the next saved in '{}'",
                        result.done, result.cells, out),
            fmt::format("go on with: {} --out {}", command_of(request, true), shell_word(out)));
    std::string text;
    const bool paper = !result.report.tables.empty();
    if (paper) text += reproduction_text(result.report) + "\n";
    if (result.field) text += field_text(*result.field) + "\n";
    const std::string files =
        paper ? "{results.md,report.html,tables,figures}" : "field/field.html";
    console.say(text + fmt::format("Written: {}\n", (request.folder / files).string()));
    console.result(paper ? reproduction_json(result.report) : field_json(*result.field));
}

}  // namespace pibinn::cli
