#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace pibinn::cli {

/// One of our measurements beside one peer's. Times are medians of runs that took turns.
struct BenchResult {
    std::string name;    ///< the bench: "train"
    std::string update;  ///< of ours: "plain" or "accelerated"
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    std::size_t batch = 0;
    std::size_t threads = 0;
    double density = 0;  ///< share of non-zero entries of x, mean over the layers
    std::string kernel;
    double ours_us = 0;
    std::string peer;
    double peer_us = 0;
    double error = 0;  ///< largest relative difference of what both computed
};

struct BenchOptions {
    std::vector<std::size_t> threads;
    double seconds = 1;  ///< for each measurement
    /// A folder for the arrays of every case, so that peers outside this program can run the same;
    /// empty for none.
    std::string cases;
};

/// Median microseconds of both.
struct Duel {
    double ours_us = 0;
    double peer_us = 0;
};

/// Lets both take turns for about `seconds`, after one turn each that does not count. Other work on
/// the machine then meets both alike.
Duel take_turns(double seconds, const std::function<void()>& ours,
                const std::function<void()>& peer);

/// A training epoch: 4000 signals, 50 x 100, 20 one-bit layers, at several densities.
std::vector<BenchResult> bench_train(const BenchOptions& options, Console& console);

}  // namespace pibinn::cli
