#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/result.hpp"
#include "pibinn/progress.hpp"

namespace pibinn::bench {

/// Which random networks are measured.
enum class NetworkChoice {
    one_bit,     ///< one-bit weights, gaussian operator, soft thresholds
    signs,       ///< the same on an operator of +-1
    tied,        ///< tied to an operator of +-1, learned shrinks of four pieces
    convolution  ///< one-bit weights on a mask: a convolution with m - n + 1 taps
};

struct NetworkShape {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t layers = 0;
    bool operator==(const NetworkShape&) const = default;
};

/// What is measured, and for how long.
struct BenchOptions {
    std::vector<std::size_t> threads{1};
    double seconds = 1;  ///< per measurement
    /// A folder for the arrays of every case, so that peers in other processes can run the same;
    /// empty for none.
    std::string cases;

    std::vector<NetworkShape> shapes;  ///< of random networks
    NetworkChoice network = NetworkChoice::one_bit;
    bool large = false;             ///< of scaling: up to 2048 x 4096
    std::string model;              ///< a file instead of random networks
    std::optional<double> density;  ///< of x in random networks; of the signals for a file
    std::vector<std::string> kernels{"auto"};
};

/// Signals one at a time on one thread, each call timed.
std::vector<BenchResult> bench_latency(const BenchOptions& options, const ProgressSink& progress);
/// Batches, on one thread and on all.
std::vector<BenchResult> bench_throughput(const BenchOptions& options,
                                          const ProgressSink& progress);
/// Batches in the memory of a CUDA device, which must be there.
std::vector<BenchResult> bench_device(const BenchOptions& options, const ProgressSink& progress);
/// A training step of 256 signals on a CUDA device, in float32 and TF32: the plain one-bit network
/// of 5000 x 10000 and 20 layers, unless sizes are given.
std::vector<BenchResult> bench_device_train(const BenchOptions& options,
                                            const ProgressSink& progress);
/// A training epoch: 4000 signals, 50 x 100, 20 one-bit layers, at several densities.
std::vector<BenchResult> bench_train(const BenchOptions& options, const ProgressSink& progress);
/// Ours alone over growing networks, on one thread, in processor time.
std::vector<ScalingResult> bench_scaling(const BenchOptions& options, const ProgressSink& progress);

}  // namespace pibinn::bench
