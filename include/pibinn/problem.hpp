// room: problem
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// Which changes of a signal are known to give another signal of the same kind.
enum class Invariance {
    none,   ///< nobody knows
    signs,  ///< the sign of any entry
    shifts  ///< signs, and cyclic shifts of the whole signal
};

/// What the choice of a training depends on beside the numbers themselves.
struct ProblemTraits {
    Invariance invariance = Invariance::none;
    bool given_measurements = false;  ///< y came with x, so that new signals cannot be measured
    bool disturbed = false;           ///< there is noise, or there are artefacts, to draw anew
    bool sparse = true;               ///< false for coefficients of pictures and recordings
    bool patches = false;             ///< signals are square patches of pictures
    std::string basis = "identity";   ///< x holds coefficients in this basis

    bool operator==(const ProblemTraits&) const = default;
};

struct ArrayProblem;

/// What a network is trained on and judged by.
struct Problem {
    Operator op;
    DataSet train;
    DataSet test;
    double noise_std = 0;  ///< of the measurements
    Disturbance train_disturbance;
    Disturbance test_disturbance;
    SignalDomain domain;  ///< what the rows of x are coefficients of
    Invariance invariance = Invariance::none;
    bool given_measurements = false;
    bool sparse = true;
    std::string protocol;            ///< how real signals became this problem, in words
    std::vector<std::string> notes;  ///< what its maker should be told

    /// The problem of a user's own operator and signals, as the program makes it of array files.
    static Problem from_arrays(const ArrayProblem& arrays);
    static Problem from_arrays(const ArrayProblem& arrays, ThreadPool& pool);

    ProblemTraits traits() const;
};

/// A user's own operator and signals, one signal per row, in the user's own unit.
struct ArrayProblem {
    Operator op = {};
    Batch x = {};
    Batch y = {};  ///< row i belongs to row i of x; empty lets the operator measure
    std::optional<std::size_t> train = {};  ///< rows to train on; unless given, four fifths
    std::optional<std::size_t> test = {};   ///< rows to test on; unless given, the rest
    double noise_std = 0;                   ///< of the measurements that the operator makes
    Basis basis = {};                       ///< in which x is sparse; the operator measures x
    std::uint64_t seed = 1;
    std::string x_name = "x", y_name = "y", basis_name = "its matrix";  ///< in errors
};

enum class Split { train, test };

/// y = A (x + disturbance) + noise for training or test signals of a problem, given or new. Row i
/// draws from the streams of index first + i: the data sets themselves are those from 0 on.
void sense(const Problem& problem, Split split, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool);
/// Refuses a set of zero signals alone: nmse divides by their norms. `where` they came from.
void require_some_signals(const Problem& problem, std::string_view where);
/// Measures the signals of both sets.
void measure_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
