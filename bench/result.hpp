#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bench/rounds.hpp"

namespace pibinn::bench {

/// The slow end of single calls, in microseconds.
struct Tail {
    double p99 = 0;
    double max = 0;
};

/// What a peer took in the same rounds as ours.
struct PeerTime {
    std::string name;
    double us = 0;
    TimeRatio ratio;  ///< of the peer's time to ours: above 1 we are faster
    /// Relative difference of what both computed; none where they compute something else.
    std::optional<double> error;
    std::optional<Tail> tail;
    std::optional<double> nmse_db;  ///< of a solver
};

/// One measurement of ours, beside one peer's where there is a peer that runs the same network.
struct BenchResult {
    std::string name;              ///< the bench: "latency", "throughput" or "train"
    std::string model = "random";  ///< or "trained": from a file
    std::string structure = "dense";
    std::string update;  ///< "plain" or "accelerated"
    std::string weights = "one-bit";
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    std::size_t batch = 0;
    std::size_t threads = 0;
    double density = 0;  ///< share of non-zero entries of x, mean over the layers
    std::string kernel;
    /// Of one signal alone ("latency"), per signal of a batch ("throughput": the batch time), of an
    /// epoch ("train").
    double ours_us = 0;
    std::optional<Tail> ours_tail;
    std::optional<double> ours_nmse_db;  ///< beside a solver's, on the same signals
    std::optional<PeerTime> peer;
};

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

}  // namespace pibinn::bench
