#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>

#include "pibinn/communicator.hpp"
#include "pibinn/error.hpp"
#include "study/training_run.hpp"

namespace pibinn::study {

/// One training of a study: one seed of a run.
struct Cell {
    const TrainingRun* run = nullptr;
    std::size_t index = 0;   ///< of the seed in its run
    std::uint64_t work = 1;  ///< of an epoch

    std::uint64_t epochs() const { return run->train.recipe.epochs(); }
};

/// The work of all epochs of all cells.
std::uint64_t total_work(std::span<const Cell> cells);

/// A rough cost of one epoch, in millions of products, by the configuration alone.
std::uint64_t epoch_work(const Config& config);

/// Makes the problem of cell i, on the thread that trains it.
using CellProblem = std::function<std::shared_ptr<const Problem>(std::size_t i)>;
/// Takes what came of cell i, on the thread that trained it.
using CellDone = std::function<void(std::size_t i, SeedRun seed)>;
/// Hears that the training of cell i failed, such as one that diverged.
using CellFailed = std::function<void(std::size_t i, const Error& error)>;

/// Trains the cells side by side over the pool, the longest first, each on one thread, into folders
/// that exist. One process trains large networks before the others, one by one on all threads. Once
/// the progress is asked to stop, running ones write their checkpoints and the others do not start:
/// `done` hears of none of these. What one of them throws stops the others, unless it is failed
/// work and `failed` is there to hear of it.
///
/// With several ranks all call this with the same cells, and each gets the next one when it is
/// free; the callbacks are called on the rank that trains it, and what other ranks finished is
/// returned on rank 0. A cell that is the only one is trained by all ranks together, and rank 0
/// alone hears of it.
std::set<std::size_t> run_cells(std::span<const Cell> cells, const CellProblem& problem,
                                const CellDone& done, TrainingProgress& progress, ThreadPool& pool,
                                const CellFailed& failed = {}, Communicator& ranks = alone());

/// Takes what other ranks trained from the checkpoints that they left, without training it again.
void collect_cells(std::span<const Cell> cells, const std::set<std::size_t>& finished,
                   const CellProblem& problem, const CellDone& done, ThreadPool& pool);

}  // namespace pibinn::study
