#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pibinn/communicator.hpp"
#include "pibinn/error.hpp"
#include "study/training_progress.hpp"

namespace pibinn::study {

/// Deals pieces of work to the threads of all ranks as they become free. Rank 0 holds the list and
/// answers the others beside its own work; they tell it how far they are, what they finished and
/// what failed. All ranks make one at the same time.
class Dealer {
public:
    /// `order` is of rank 0: numbers in the order in which they are dealt. `progress` is that of
    /// the whole, and must outlive this.
    Dealer(Communicator& ranks, std::vector<std::size_t> order, TrainingProgress& progress);
    /// Where close() was not reached, rank 0 stops answering.
    ~Dealer();
    Dealer(const Dealer&) = delete;
    Dealer& operator=(const Dealer&) = delete;

    /// The progress of this rank's own work.
    TrainingProgress& progress() { return own_ ? *own_ : progress_; }

    /// For one thread: the next number, or nothing when all are dealt or the work was stopped.
    std::optional<std::size_t> next();
    /// That one is finished, and its files are written.
    void finished(std::size_t number);
    /// Another rank than 0 failed: rank 0 throws the error from close(). False on rank 0 itself.
    bool fail(const Error& error);

    /// After the last next() of this rank. Rank 0 waits for the others, also where one of them has
    /// failed: they save their trainings. Returns what they have finished.
    std::set<std::size_t> close();

private:
    std::optional<std::size_t> deal();
    std::string answer(std::size_t rank, std::string_view question);
    /// Answers questions until all ranks have gone; errors are told by close().
    void serve();
    void serve_all();
    bool tell(const Progress& event);

    Communicator& ranks_;
    TrainingProgress& progress_;
    std::optional<TrainingProgress> own_;  ///< of another rank than 0; told to rank 0
    ProgressSink local_;
    std::chrono::steady_clock::time_point told_ = {};

    std::mutex mutex_;  ///< of what follows
    std::vector<std::size_t> order_;
    std::size_t dealt_ = 0;
    std::size_t gone_ = 0;  ///< ranks that have nothing more to do
    bool closing_ = false;
    bool silent_ = false;              ///< rank 0 failed at answering, and does not go on
    std::set<std::size_t> elsewhere_;  ///< finished by other ranks
    std::optional<Error> failure_;
    std::map<std::size_t, ProgressSink> sinks_;  ///< by rank
    std::thread server_;
};

}  // namespace pibinn::study
