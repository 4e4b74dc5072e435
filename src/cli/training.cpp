#include "cli/training.hpp"

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/ranks.hpp"
#include "pibinn/error.hpp"

namespace pibinn::cli {

std::vector<study::SeedRun> run_training(const study::TrainingRun& run, Console& console,
                                         ThreadPool& pool) {
    const Interrupt interrupt;
    study::TrainedRun trained =
        study::run_training(run, console.listener(interrupt), pool, ranks());
    console.clear_progress();
    if (!trained.finished && ranks().first())
        throw Error(ErrorKind::failed,
                    fmt::format("stopped after {} of {} epochs, checkpoint saved in '{}'",
                                trained.epochs, trained.all_epochs, run.folder.string()),
                    fmt::format("go on with: {} --out {} --resume", run.command,
                                shell_word(run.folder.string())));
    return std::move(trained.seeds);
}

std::string data_lines(const std::vector<study::SeedRun>& seeds) {
    std::string lines;
    if (const std::string& found = seeds.front().problem->exchangeability; !found.empty())
        lines += fmt::format(
            "{}\naugment {}, {:.0f} % of the training signals kept for validation\n", found,
            to_string(seeds.front().result.augment), 100 * seeds.front().result.validation);
    for (const std::string& warning : study::warnings_of(seeds))
        lines += fmt::format("warning: {}\n", warning);
    return lines;
}

}  // namespace pibinn::cli
