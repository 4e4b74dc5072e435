// room: problem
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/disturbance.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/signal_domain.hpp"
#include "pibinn/signal_prior.hpp"
#include "pibinn/user_array.hpp"

namespace pibinn {

/// Signals and their measurements, one pair per row.
struct DataSet {
    Batch x;
    Batch y;
};

/// Which changes of a signal are known to give another signal of the same kind.
enum class Invariance {
    none,    ///< nobody knows
    signs,   ///< the sign of any entry
    places,  ///< cyclic shifts of the whole signal
    shifts   ///< both
};

/// What the choice of a training depends on beside the numbers themselves.
struct ProblemTraits {
    Invariance invariance = Invariance::none;
    bool given_measurements = false;  ///< y came with x
    /// A new signal can be measured: y is drawn, or what came with x is A x and some noise.
    bool measurable = true;
    bool own_signals = false;   ///< arrays of a user, of which nothing else is known
    bool drawn = false;         ///< signals come from a prior, which gives as many as one likes
    bool disturbed = false;     ///< there is noise, or there are artefacts, to draw anew
    bool noise_varies = false;  ///< the ratio of signal to noise is anywhere in a range
    bool sparse = true;         ///< false for coefficients of pictures and recordings
    bool patches = false;       ///< signals are square patches of pictures
    bool complex = false;       ///< rows hold real and imaginary parts, or several vectors
    std::string basis = "identity";  ///< x holds coefficients in this basis

    bool operator==(const ProblemTraits&) const = default;
};

struct ArrayProblem;
struct NormalisedProblem;

/// What a network is trained on and judged by.
struct Problem {
    Operator op;
    DataSet train;
    DataSet test;
    /// Where ranks share a training, `train` may be a part of all `train_rows` rows, from row
    /// `train_begin` on; 0 rows say that it is whole. Only train() takes such a problem.
    std::size_t train_begin = 0, train_rows = 0;
    double noise_std = 0;            ///< of the measurements
    std::optional<SnrRange> snr_db;  ///< of the measurements, instead of noise_std
    Disturbance train_disturbance;
    Disturbance test_disturbance;
    SignalDomain domain;  ///< what the rows of x are coefficients of
    Invariance invariance = Invariance::none;
    std::optional<SignalPrior> prior;  ///< of drawn signals
    bool given_measurements = false;
    bool own_signals = false;
    bool sparse = true;
    /// y - A x of given training pairs, one per row of `train`: the noise of signals that are
    /// measured anew.
    Batch train_residual;
    /// The share of the energy of given training measurements that A x does not explain.
    double unexplained = 0;
    /// Typical size of an entry of x that is not zero, and of a column of A, where whoever made
    /// the problem knows them; otherwise they are measured. Training divides by both.
    std::optional<double> signal_size, column_norm;
    /// The same in units of 1, made of float64 before anything was rounded: what training works on.
    /// Null where the numbers came as float32, or are in units of 1 already. Whoever changes the
    /// problem later has it trained on the numbers that it then has.
    std::shared_ptr<const NormalisedProblem> normalised;
    std::string protocol;            ///< how real signals became this problem, in words
    std::string exchangeability;     ///< why `invariance` is what it is, where signals were judged
    std::vector<std::string> notes;  ///< what its maker should be told
    std::vector<std::string> warnings;  ///< what its maker should mend

    /// The problem of a user's own operator and signals, as the program makes it of array files.
    static Problem from_arrays(const ArrayProblem& arrays);
    static Problem from_arrays(const ArrayProblem& arrays, ThreadPool& pool);

    ProblemTraits traits() const;
    /// The training rows of all ranks together.
    std::size_t all_train_rows() const { return train_rows > 0 ? train_rows : train.x.rows(); }
};

/// A user's own operator and signals, one signal per row, in the user's own unit. A training comes
/// out the same in any unit where all of them are float64.
///
/// Operator and signals may be complex, and then the measurements are. Complex signals need an
/// operator of every entry (Operator::from_dense, from_complex). A complex operator on real signals
/// measures as [Re A; Im A], which uses that the signals are real.
struct ArrayProblem {
    Operator op = {};
    UserArray x = {};
    UserArray y = {};  ///< row i belongs to row i of x; empty lets the operator measure
    /// Vectors per row, one after the other, which all go through the operator and are expected to
    /// share their support: of several antennas, or channels.
    std::size_t vectors = 1;
    std::optional<std::size_t> train = {};  ///< rows to train on; unless given, four fifths
    std::optional<std::size_t> test = {};   ///< rows to test on; unless given, the rest
    /// Of the measurements that the operator makes, and of both parts of complex ones.
    double noise_std = 0;
    std::optional<SnrRange> snr_db = {};  ///< of the same, instead of noise_std
    /// In which x is sparse, made of the entries of one vector; the operator measures x.
    Basis basis = {};
    std::uint64_t seed = 1;
    std::string x_name = "x", y_name = "y", basis_name = "its matrix";  ///< in errors
};

enum class Split { train, test };

/// Beyond this share of energy, what A x does not explain of given measurements is no noise of
/// theirs: 6 dB.
inline constexpr double kMostUnexplained = 0.25;

/// y = A (x + disturbance) + noise for training or test signals of a problem, given or new. Row i
/// draws from the streams of index first + i: the data sets themselves are those from 0 on. Where
/// measurements were given, their residuals are the noise: that of pair first + i modulo the pairs,
/// with a random sign.
void sense(const Problem& problem, Split split, ConstBatchView x, BatchView y, std::uint64_t seed,
           std::uint64_t first, ThreadPool& pool);
/// Refuses a set of zero signals alone: nmse divides by their norms. `where` they came from.
void require_some_signals(const Problem& problem, std::string_view where);
/// Refuses measurements over kLargestMeasurement, or that are not finite.
void require_measurements(const Problem& problem);
/// The same problem with every entry of its matrix a link.
Problem without_structure(const Problem& problem);
/// A short hash of operator, signals and measurements, kept in models and checkpoints.
std::string data_fingerprint(const Problem& problem);
/// Measures the signals of both sets.
void measure_sets(Problem& problem, std::uint64_t seed, ThreadPool& pool);

}  // namespace pibinn
