#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "core/machine.hpp"
#include "pibinn/error.hpp"
#include "study/field_study.hpp"

namespace pibinn::cli {

namespace {

std::string field_command(const FieldStudy& study) {
    std::string words = "pibinn field";
    if (study.quick) words += " --quick";
    if (!study.networks.empty()) words += " --networks " + study.networks;
    if (study.seeds > 0) words += fmt::format(" --seeds {}", study.seeds);
    if (study.reference_seeds > 0)
        words += fmt::format(" --reference-seeds {}", study.reference_seeds);
    if (study.device != "cpu") words += " --device " + study.device;
    for (const std::string& set : study.settings) words += " --set " + shell_word(set);
    return words;
}

}  // namespace

void run_field(const Arguments& arguments) {
    CommandLine line("field",
                     "Runs the benchmark of the literature on sparse recovery: 250 x 500 to 250 x "
                     "2000, noise from 10 dB to none, 4 to 16 layers; tied, one-bit and float "
                     "networks beside ISTA, FISTA, OMP, AMP, the linear estimator, the oracle and "
                     "published figures. Writes field.json, field.html and a folder per training. "
                     "Takes 45 minutes on two cores; Ctrl-C saves, and the same command goes on.",
                     "pibinn field --quick --out field");
    FieldStudy study;
    std::string out;
    line.required("--out", out, "folder of the benchmark; made if missing", "DIR");
    line.flag("--quick", study.quick, "a miniature of it, in a minute");
    line.optional("--networks", study.networks,
                  "only these: tied-rademacher, tied-gaussian, one-bit-gaussian, float-gaussian",
                  "LIST");
    line.optional("--seeds", study.seeds, "trainings of each network (1)", "N");
    line.optional("--reference-seeds", study.reference_seeds,
                  "problems that methods without a network are judged on (as many)", "N");
    line.optional("--device", study.device, "where to train: cpu, cuda or cuda-tf32", "NAME");
    line.optional("--set", study.settings,
                  "set a key of every training, such as train.stage.tune.epochs=50", "KEY=VALUE");
    line.takes_ranks();
    if (!line.parse(arguments)) return;
    if (line.given("--seeds") && study.seeds == 0)
        fail_usage("--seeds 0 trains nothing", "give 1 or more");
    if (line.given("--reference-seeds") && study.reference_seeds == 0)
        fail_usage("--reference-seeds 0 judges no reference", "give 1 or more");
    Console console(line.output());

    study.folder = out;
    study.machine = machine_text(study.device);
    study.date = today();
    study.command = field_command(study);
    ThreadPool pool(line.threads());
    const Interrupt interrupt;
    const FieldResult result = study::run_field(study, console.listener(interrupt), pool, ranks());
    console.clear_progress();
    if (!ranks().first()) return;
    if (!result.finished)
        throw Error(ErrorKind::failed,
                    fmt::format("stopped after {} of {} cases, all of them and the checkpoint of "
                                "the next saved in '{}'",
                                result.done, result.cases, out),
                    fmt::format("go on with: {} --out {}", study.command, shell_word(out)));
    console.say(fmt::format("{}\nWritten: {}\n", field_text(result.report),
                            (study.folder / "{field.json,field.html}").string()));
    console.result(field_json(result.report));
}

}  // namespace pibinn::cli
