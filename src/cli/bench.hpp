#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace pibinn::cli {

/// What a call takes when it goes badly, in microseconds.
struct Tail {
    double p99 = 0;
    double max = 0;
};

/// One of our measurements beside one peer's. Times are medians of runs that took turns.
struct BenchResult {
    std::string name;              ///< the bench: "train", "latency", "throughput"
    std::string model = "random";  ///< or "trained"
    std::string update;            ///< of ours: "plain" or "accelerated"
    std::string weights = "one-bit";
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    std::size_t batch = 0;
    std::size_t threads = 0;
    double density = 0;  ///< share of non-zero entries of x, mean over the layers
    std::string kernel;
    double ours_us = 0;  ///< of an epoch ("train"), a call ("latency"), a signal ("throughput")
    std::string peer;
    double peer_us = 0;
    double ratio = 0;  ///< of the peer's time to ours, the median over rounds of turns
    /// Relative difference of what both computed; none where they compute something else.
    std::optional<double> error;
    std::optional<Tail> ours_tail, peer_tail;
    std::optional<double> ours_nmse_db, peer_nmse_db;  ///< of solvers, on the same signals
};

struct BenchShape {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
};

struct BenchOptions {
    std::vector<std::size_t> threads;
    double seconds = 1;  ///< for each measurement
    /// A folder for the arrays of every case, so that peers outside this program can run the same;
    /// empty for none.
    std::string cases;

    std::vector<BenchShape> shapes;  ///< of random models
    bool large = false;              ///< of scaling: up to 2048 x 4096
    std::string model;               ///< a file instead of those
    std::optional<double> density;   ///< of x in random models, of the signals for a file
    std::vector<std::string> kernels;
};

/// A training epoch: 4000 signals, 50 x 100, 20 one-bit layers, at several densities.
std::vector<BenchResult> bench_train(const BenchOptions& options, Console& console);
/// Signals one at a time, on one thread, each call timed.
std::vector<BenchResult> bench_latency(const BenchOptions& options, Console& console);
/// Batches, on one thread and on all.
std::vector<BenchResult> bench_throughput(const BenchOptions& options, Console& console);

/// Cost over one size of a network, the others fixed.
struct ScalingResult {
    std::string axis;  ///< "layers", "links", "batch", "blocks", "repetitions"
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    std::size_t batch = 0;
    std::size_t blocks = 1;
    double size = 0;  ///< along the axis
    double us = 0;    ///< of a call
};

/// Ours alone, on one thread, in time of the processor.
std::vector<ScalingResult> bench_scaling(const BenchOptions& options, Console& console);

}  // namespace pibinn::cli
