#include "study/cells.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/path.hpp"
#include "study/dealer.hpp"
#include "study/problem_source.hpp"
#include "study/run_folder.hpp"
#include "train/large_network.hpp"

namespace pibinn::study {

namespace {

SeedRun train_cell(const Cell& cell, std::shared_ptr<const Problem> problem,
                   const ProgressSink& progress, ThreadPool& pool, Communicator& ranks) {
    const TrainingRun& run = *cell.run;
    SeedRun seed;
    seed.seed = run.config.seed + cell.index;
    seed.problem = std::move(problem);
    const Problem& physics = *seed.problem;
    require_memory(run.config, physics.op.structure(), run.device);
    // A network that ignores the structure is trained on the same matrix as a dense problem.
    std::optional<Problem> dense;
    if (run.config.dense_network) dense = without_structure(physics);
    TrainJob job;
    job.problem = dense ? &*dense : &physics;
    job.spec = fit_network(physics, run.config.model, run.config.choices());
    job.recipe = fitted_recipe(run.train, job.spec, physics);
    job.seed = seed.seed;
    job.device = run.device;
    job.folder = seed_folder(run, cell.index);
    job.resume = run.resume;
    job.checkpoint_seconds = run.train.checkpoint_seconds;
    job.keeps_end = !run.replaces;  // a study keeps no checkpoints
    job.ranks = &ranks;
    seed.result = train(job, pool, progress);
    return seed;
}

bool is_real(const Config& config) {
    return config.problem.kind == ProblemKind::images ||
           config.problem.kind == ProblemKind::signals;
}

/// Roughly, of all layers.
double links_of(const Config& config) {
    const SyntheticSpec& spec = config.problem.spec;
    double m = static_cast<double>(spec.m), n = static_cast<double>(spec.n);
    if (is_real(config)) {
        const RealConfig& real = config.problem.real;
        n = config.problem.kind == ProblemKind::images
                ? static_cast<double>(real.patch * real.patch)
                : 512;
        m = real.ratio * n;
    }
    double blocks = 1;
    if (spec.structure == StructureKind::repeated) {
        blocks = static_cast<double>(spec.repeat);
        if (config.dense_network) blocks *= blocks;
    }
    return static_cast<double>(config.model.layers) * blocks * m * n;
}

bool is_large(const Config& config) {
    return !config.model.tied() && links_of(config) >= static_cast<double>(kLargeNetworkLinks);
}

}  // namespace

std::uint64_t total_work(std::span<const Cell> cells) {
    std::uint64_t sum = 0;
    for (const Cell& cell : cells) sum += cell.work * cell.epochs();
    return sum;
}

std::uint64_t epoch_work(const Config& config) {
    double rows = static_cast<double>(config.problem.spec.train);
    if (is_real(config)) rows = 4000;
    // Weights that are trained take a product more per layer.
    const double products = config.model.tied() ? 2 : 3;
    return 1 + static_cast<std::uint64_t>(1e-6 * rows * products * links_of(config));
}

std::set<std::size_t> run_cells(std::span<const Cell> cells, const CellProblem& problem,
                                const CellDone& done, TrainingProgress& progress, ThreadPool& pool,
                                const CellFailed& failed, Communicator& ranks) {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // The longest last would leave the other cores idle in the end.
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return cells[a].work * cells[a].epochs() > cells[b].work * cells[b].epochs();
    });
    const auto others = std::stable_partition(
        order.begin(), order.end(), [&](std::size_t i) { return is_large(cells[i].run->config); });
    // All ranks and threads for the only one, unless its numbers are where no rank can send them.
    const bool together = cells.size() == 1;
    const bool shared = together && cells[0].run->device == "cpu";
    if (together && !shared && !ranks.first()) return {};
    Communicator& dealt_to = together ? alone() : ranks;
    const std::size_t large =
        dealt_to.several() ? 0 : static_cast<std::size_t>(others - order.begin());
    Dealer dealer(dealt_to, std::move(order), progress);
    const auto train_next = [&] {
        const auto next = dealer.next();
        if (!next) return false;
        const std::size_t i = *next;
        try {
            SeedRun seed = train_cell(cells[i], problem(i),
                                      dealer.progress().sink(cells[i].work, cells[i].run->label),
                                      pool, shared ? ranks : alone());
            if (!seed.result.finished || (shared && !ranks.first())) return true;
            done(i, std::move(seed));
            dealer.finished(i);
        } catch (const Error& error) {
            if (failed && error.kind() == ErrorKind::failed) {
                if (!shared || ranks.first()) failed(i, error);
                dealer.finished(i);
                return true;
            }
            dealer.progress().stop();
            if (dealer.fail(error)) return false;
            throw;
        } catch (...) {
            dealer.progress().stop();
            throw;
        }
        return true;
    };
    for (std::size_t i = 0; i < large; ++i)
        if (!train_next()) break;
    const auto train_rest = [&](std::size_t) {
        while (train_next()) {
        }
    };
    if (together)
        train_rest(0);
    else
        pool.run(std::min(pool.threads(), cells.size() - large), train_rest);
    return dealer.close();
}

void collect_cells(std::span<const Cell> cells, const std::set<std::size_t>& finished,
                   const CellProblem& problem, const CellDone& done, ThreadPool& pool) {
    const std::vector<std::size_t> numbers(finished.begin(), finished.end());
    pool.run(numbers.size(), [&](std::size_t at) {
        const std::size_t i = numbers[at];
        TrainingRun run = *cells[i].run;
        run.resume = true;
        const std::filesystem::path folder = seed_folder(run, cells[i].index);
        if (!path_exists(folder / "checkpoint.safetensors"))
            fail_io(fmt::format("'{}' has no checkpoint, though another rank has finished it",
                                folder.string()),
                    "all hosts need the same RunOptions::folder: put it on a shared file system");
        Cell cell = cells[i];
        cell.run = &run;
        done(i, train_cell(cell, problem(i), {}, pool, alone()));
    });
}

}  // namespace pibinn::study
