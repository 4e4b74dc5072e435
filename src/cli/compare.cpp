#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "pibinn/error.hpp"
#include "study/config_document.hpp"
#include "study/scheme_study.hpp"

namespace pibinn::cli {

namespace {

namespace fs = std::filesystem;

struct Options {
    ConfigOptions configuration;
    SchemeChoice choice;
    std::size_t seeds = 0;  ///< 0: those of the configuration
    std::string out;
    bool resume = false;

    void add_to(CommandLine& line) {
        configuration.add_to(line);
        std::vector<std::string_view> kinds;
        for (const WeightKind kind : weight_kinds()) kinds.push_back(to_string(kind));
        line.optional("--weights", choice.weights,
                      fmt::format("of {} (all)", fmt::join(kinds, ", ")), "LIST");
        line.optional("--structure", choice.structures,
                      "of the network: the problem's own and dense (both)", "LIST");
        line.optional("--architecture", choice.architectures,
                      "of unrolled, fcn-relu, fcn-soft (all)", "LIST");
        line.optional("--seeds", seeds, "trainings of each scheme, for train.seeds", "N");
        line.required("--out", out, "folder of the comparison; made if missing", "DIR");
        line.flag("--resume", resume, "go on with the comparison that the folder holds");
    }
    /// An empty list is one that a script could not fill, not a wish for everything.
    void require_some(CommandLine& line) const {
        for (const auto& [option, list] :
             {std::pair{"--weights", &choice.weights}, std::pair{"--structure", &choice.structures},
              std::pair{"--architecture", &choice.architectures}})
            if (line.given(option) && list->empty())
                fail_usage(fmt::format("{} is an empty list", option),
                           "name some, or leave the option out for all");
        if (line.given("--seeds") && seeds == 0)
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
    line.takes_ranks();
    if (!line.parse(arguments)) return;
    options.require_some(line);
    Console console(line.output());

    const ConfigDocument document = options.configuration.document();
    const Config config = options.configuration.load(document);
    ThreadPool pool(line.threads());
    const SchemeStudy study{options.choice, options.seeds, options.out, options.resume,
                            options.command()};
    const Interrupt interrupt;
    const SchemeResult result =
        compare_schemes(study, config, document, console.listener(interrupt), pool, ranks());
    console.clear_progress();
    if (!ranks().first()) return;
    if (!result.finished)
        throw Error(ErrorKind::failed,
                    fmt::format("stopped after {} of {} schemes, all of them and the checkpoint of "
                                "the next saved in '{}'",
                                result.trained, result.schemes, options.out),
                    fmt::format("go on with: {} --out {} --resume", options.command(),
                                shell_word(options.out)));
    const SchemesReport& report = result.report;
    std::string text = fmt::format("{}\n", schemes_text(report));
    for (const std::string& sentence : verdicts(report)) text += sentence + "\n";
    const fs::path out = options.out;
    console.say(text + fmt::format("Written: {}\n",
                                   (out / "{compare.json,compare.csv,report.html}").string()));
    console.result(scheme_json(result));
}

}  // namespace pibinn::cli
