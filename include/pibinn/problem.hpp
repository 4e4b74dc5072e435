// room: problem
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pibinn/disturbance.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/signal_domain.hpp"

namespace pibinn {

/// Signals and their measurements, one pair per row.
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

enum class Split { train, test };

/// y = A (x + disturbance) + noise for training or test signals of a problem, given or new. Row i
/// draws from the streams of index first + i: the data sets themselves are those from 0 on.
void sense(const Problem& problem, Split split, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool);
/// Measures the signals of both sets.
void measure_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
