// room: solvers
#pragma once

#include <cstddef>
#include <vector>

#include "pibinn/grouping.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn {

enum class AmpShrink {
    soft,               ///< towards zero by alpha tau: needs to know nothing of the signals
    bernoulli_gaussian  ///< the mean of a group given what is seen of it: knows their law
};

/// Groups that are zero but for a share `density` of them, whose entries are N(0, variance).
/// Without groups each entry is one; of a complex entry CN(0, 1) the variance is 1/2.
struct BernoulliGaussian {
    double density = 0.05;
    double variance = 1;

    /// Of training signals: counted where most groups are zero, otherwise the law whose groups have
    /// the same second and fourth moment.
    static BernoulliGaussian of(ConstBatchView x);
    static BernoulliGaussian of(ConstBatchView x, const Structure& structure,
                                const Grouping& grouping);
};

struct AmpOptions {
    AmpShrink shrink = AmpShrink::soft;
    /// soft: the threshold of a magnitude, in units of tau sqrt(entries of a group).
    double alpha = 1.4;
    BernoulliGaussian prior = {};  ///< bernoulli_gaussian
    /// Deviation of the noise where it is known: tau is never taken for less.
    double noise_std = 0;
    /// The share of each step that is taken, of (0, 1]. A signal whose residual grows starts again
    /// with half of it, several times if need be.
    double damping = 1;
    std::size_t max_iterations = 100;
    /// A signal is done when a full step would move it by less than this share of its norm.
    double tolerance = 1e-5;
};

/// Approximate message passing (Donoho, Maleki and Montanari, 2009):
///     v = x + A^T r,  x' = shrink(v; tau),  r' = y - A x' + r (1/m) sum_j shrink'(v_j; tau)
/// with tau^2 the mean of r^2. Of groups the magnitude is shrunk, and the sum is the divergence of
/// that over the rows of a group: for complex entries the mean of the slopes along and across
/// (Maleki, Anitori, Yang and Baraniuk, 2013). Near the best that is known for operators with
/// independent entries; on others, such as convolutions, it may have to be damped or fail
/// altogether. A signal that diverges however short its steps is left zero and does not count as
/// converged.
///
/// Columns are scaled to length 1 inside. Every diagonal block is a problem of its own, with a tau
/// of its own; `mask` is one problem, and so are the repetitions that belong to one group. One
/// solver serves many batches.
class AmpSolver {
public:
    explicit AmpSolver(const Operator& op, const Grouping& grouping = {});

    /// Safe to call from several threads. The same bytes for any number of threads.
    Solution solve(ConstBatchView y, const AmpOptions& options, ThreadPool& pool) const;

private:
    /// The columns of one block, or of the mask, scaled to length 1.
    struct UnitColumns {
        std::size_t row = 0;
        std::size_t col = 0;
        Operator op;
        std::vector<double> norm;
    };

    Structure structure_;
    Grouping grouping_;
    std::vector<UnitColumns> blocks_;  ///< of one repetition
};

Solution solve_amp(const Operator& op, ConstBatchView y, const AmpOptions& options,
                   ThreadPool& pool, const Grouping& grouping = {});

struct AmpChoice {
    AmpOptions options;
    double nmse_db = 0;  ///< mean of ||xhat - x||^2 / ||x||^2 over the signals that are not zero
};

/// The options of least nmse on `pairs`; the first of equals. Soft thresholds try an alpha from 0.8
/// to 2.5, whatever `options` say; shorter steps are tried too where some signal had to be damped.
AmpChoice best_amp(const AmpSolver& solver, const DataSet& pairs, AmpOptions options,
                   ThreadPool& pool);

}  // namespace pibinn
