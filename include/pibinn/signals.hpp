// room: problem
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pibinn/disturbance.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/random.hpp"
#include "pibinn/signal_domain.hpp"

namespace pibinn {

/// Bernoulli-Gaussian sparse signals: each entry is non-zero with probability `density` (or exactly
/// the entries of `support` are), its value N(0, 1). A signal that would be all zero gets one
/// non-zero entry at a random place, since the paper's nmse divides by its norm.
struct SparsePrior {
    double density = 0.05;
    std::vector<std::uint32_t> support;  ///< fixed support; empty means random
};

/// Row i is drawn from the stream (seed, purpose, i), whatever the number of rows or threads.
Batch draw_signals(const SparsePrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool);

/// Adds N(0, noise_std^2) to every entry, row i from the stream (seed, purpose, first + i).
void add_noise(BatchView y, double noise_std, std::uint64_t seed, Purpose purpose, ThreadPool& pool,
               std::uint64_t first = 0);

/// Signals and their measurements, one pair a row.
struct DataSet {
    Batch x;
    Batch y;
};

/// What a network is trained on and judged by.
struct Problem {
    Operator op;
    DataSet train;
    DataSet test;
    double noise_std = 0;  ///< of the measurements
    Disturbance train_disturbance;
    Disturbance test_disturbance;
    SignalDomain domain;             ///< what the rows of x are coefficients of
    std::string protocol;            ///< how real signals became this problem, in words
    std::vector<std::string> notes;  ///< what its maker should be told
};

enum class Part { train, test };

/// y = A (x + disturbance) + noise for training or test signals of a problem, given or new. Row i
/// draws from the streams of index first + i: the data sets themselves are those from 0 on.
void sense(const Problem& problem, Part part, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool);
/// Measures both sets, whose signals are there.
void sense_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool);

/// The synthetic problem of a seed. Operator, training and test sets come from separate streams.
struct SyntheticSpec {
    std::size_t m = 50;
    std::size_t n = 100;
    StructureKind structure = StructureKind::dense;
    std::size_t repeat = 100;  ///< of `repeated` and `blocks`; m x n is then one block
    /// {rows, cols} of each of the `blocks`; where given, m, n and repeat do not count.
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    double mask_density = 0.1;  ///< of `mask`: the share of links
    OperatorEnsemble ensemble = OperatorEnsemble::gaussian;
    SparsePrior prior;
    std::size_t train = 4000;
    std::size_t test = 1000;
    double noise_std = 0;
};

Problem make_synthetic(const SyntheticSpec& spec, std::uint64_t seed, ThreadPool& pool);
/// The same on an operator that is already there.
Problem make_synthetic(const SyntheticSpec& spec, Operator op, std::uint64_t seed,
                       ThreadPool& pool);

}  // namespace pibinn
