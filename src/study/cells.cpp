#include "study/cells.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <vector>

#include "study/problem_source.hpp"
#include "study/run_folder.hpp"

namespace pibinn::study {

namespace {

SeedRun train_cell(const Cell& cell, std::shared_ptr<const Problem> problem,
                   TrainingProgress& progress, ThreadPool& pool) {
    const TrainingRun& run = *cell.run;
    SeedRun seed;
    seed.seed = run.config.seed + cell.index;
    seed.problem = std::move(problem);
    const Problem& physics = *seed.problem;
    require_memory(run.config, physics.op.structure());
    // A network that ignores the structure is trained on the same matrix as a dense problem.
    std::optional<Problem> dense;
    if (run.config.dense_network) dense = without_structure(physics);
    TrainJob job;
    job.problem = dense ? &*dense : &physics;
    job.spec = fit_network(physics, run.config.model, run.config.own_groups);
    job.recipe = fitted_recipe(run.train, job.spec, physics);
    job.seed = seed.seed;
    job.device = run.device;
    job.folder = seed_folder(run, cell.index);
    job.resume = run.resume;
    job.checkpoint_seconds = run.train.checkpoint_seconds;
    seed.result = train(job, pool, progress.sink(cell.work, run.label));
    return seed;
}

}  // namespace

std::uint64_t total_work(std::span<const Cell> cells) {
    std::uint64_t sum = 0;
    for (const Cell& cell : cells) sum += cell.work * cell.epochs();
    return sum;
}

std::uint64_t epoch_work(const Config& config) {
    const ProblemConfig& problem = config.problem;
    const SyntheticSpec& spec = problem.spec;
    double m = static_cast<double>(spec.m), n = static_cast<double>(spec.n);
    double rows = static_cast<double>(spec.train);
    if (problem.kind == ProblemKind::images || problem.kind == ProblemKind::signals) {
        n = problem.kind == ProblemKind::images
                ? static_cast<double>(problem.real.patch * problem.real.patch)
                : 512;
        m = problem.real.ratio * n;
        rows = 4000;
    }
    double blocks = 1;
    if (spec.structure == StructureKind::repeated) {
        blocks = static_cast<double>(spec.repeat);
        if (config.dense_network) blocks *= blocks;
    }
    const double layers = static_cast<double>(config.model.layers);
    // Weights that are trained take a product more per layer.
    const double products = config.model.tied() ? 2 : 3;
    return 1 + static_cast<std::uint64_t>(1e-6 * rows * blocks * products * layers * m * n);
}

void run_cells(std::span<const Cell> cells, const CellProblem& problem, const CellDone& done,
               TrainingProgress& progress, ThreadPool& pool, const CellFailed& failed) {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The longest last would leave the other cores idle in the end.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return cells[a].work * cells[a].epochs() > cells[b].work * cells[b].epochs();
    });
    std::atomic<std::size_t> next{0};
    const auto train_some = [&](std::size_t) {
        for (std::size_t at = next++; at < order.size() && !progress.stopped(); at = next++) {
            const std::size_t i = order[at];
            try {
                SeedRun seed = train_cell(cells[i], problem(i), progress, pool);
                if (seed.result.finished) done(i, std::move(seed));
            } catch (const Error& error) {
                if (failed && error.kind() == ErrorKind::failed) {
                    failed(i, error);
                    continue;
                }
                progress.stop();
                throw;
            } catch (...) {
                progress.stop();
                throw;
            }
        }
    };
    if (cells.size() == 1) return train_some(0);  // all threads for the one
    pool.run(std::min(pool.threads(), cells.size()), train_some);
}

}  // namespace pibinn::study
