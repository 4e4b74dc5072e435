#include "cli/training.hpp"

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "pibinn/error.hpp"
#include "study/real_source.hpp"

namespace pibinn::cli {

std::vector<study::SeedRun> run_training(const study::TrainingRun& run, Console& console,
                                         ThreadPool& pool) {
    const Interrupt interrupt;
    study::TrainingProgress progress(console.listener(interrupt),
                                     run.train.seeds * run.train.recipe.epochs());
    const study::SeedProblems problems = study::make_problems(run.config, run.train.seeds, pool);
    progress.note(study::short_notes(*problems.front()));
    std::vector<study::SeedRun> seeds = study::train_seeds(run, problems, progress, 1, pool);
    console.clear_progress();
    if (!study::all_finished(seeds))
        throw Error(ErrorKind::failed,
                    fmt::format("stopped after {} of {} epochs, checkpoint saved in '{}'",
                                progress.done(), progress.total(), run.folder.string()),
                    fmt::format("go on with: {} --out {} --resume", run.command,
                                shell_word(run.folder.string())));
    return seeds;
}

}  // namespace pibinn::cli
