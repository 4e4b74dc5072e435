// room: solvers
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pibinn/grouping.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn {

/// When a pursuit stops; whichever comes first.
struct OmpOptions {
    /// Columns that a block may use, or groups of these; 0 means as many as it has rows.
    std::size_t sparsity = 0;
    /// Stops once ||y - A x|| is at most this share of ||y||: what rounding leaves where there is
    /// no noise.
    double tolerance = 1e-5;
    /// Stops once ||y - A x|| is at most noise_std sqrt(m), with m the measurements of the block:
    /// the norm of noise of this deviation. The same for every signal, faint or strong.
    double noise_std = 0;
};

struct OmpChoice {
    OmpOptions options;
    double nmse_db = 0;  ///< mean of ||xhat - x||^2 / ||x||^2 over the signals that are not zero
};

/// The best rule of each kind.
struct OmpChoices {
    OmpChoice by_noise;
    OmpChoice by_sparsity;

    const OmpChoice& best() const {
        return by_sparsity.nmse_db < by_noise.nmse_db ? by_sparsity : by_noise;
    }
};

/// Orthogonal matching pursuit: takes the column most correlated with what is left to explain, fits
/// all chosen columns by least squares, and again. It stops as its options say, at as many columns
/// as rows, or when the best column depends on the chosen ones.
///
/// Groups are taken as a whole: the group of the most energy in A^T r, then least squares on all
/// its columns. Of complex entries this is OMP of complex numbers; of vectors that share a support
/// it is simultaneous OMP (Tropp, Gilbert and Strauss, 2006).
///
/// Every diagonal block is a problem of its own, with its own sparsity and residual. `mask` is one
/// problem, and so are the repetitions that belong to one group. What depends on the operator alone
/// is prepared once, so one solver serves many batches.
class OmpSolver {
public:
    OmpSolver(const Operator& op, ThreadPool& pool, const Grouping& grouping = {});

    /// Safe to call from several threads. The same bytes for any number of threads.
    Solution solve(ConstBatchView y, const OmpOptions& options, ThreadPool& pool) const;

    /// The stopping rules of least nmse on training pairs. Candidates are the noise level, in
    /// absolute terms and as a share of each signal's measurements, times a few factors around 1,
    /// and every sparsity up to twice the largest support. Without noise the tolerance takes the
    /// place of the noise level. One pursuit per signal tries them all.
    OmpChoices best_stops(const DataSet& pairs, const NoiseLevel& noise, ThreadPool& pool) const;

    /// Least squares on the support of each row of `x`, whole groups of it: what an oracle that
    /// knows the support would answer, and a bound for those that have to find it.
    Batch fit_support(ConstBatchView x, ConstBatchView y, ThreadPool& pool) const;

private:
    /// The columns of one block, or of the mask, scaled to length 1.
    struct UnitColumns {
        std::size_t row = 0;
        std::size_t col = 0;
        Structure shape;               ///< dense, or the mask itself
        AlignedBuffer<double> values;  ///< links of unit columns (a zero column stays zero)
        std::vector<double> inverse_norm;
        Matrix<double> gram;  ///< empty for a block too wide
    };
    class Pursuit;
    struct Paths;

    /// One pursuit for every block of every set of repetitions of every row: visit(pursuit, row,
    /// first) gets it as it starts, and where its entries begin in the row's signal. The blocks of
    /// a row are visited in order, by one thread.
    void for_each_block(
        ConstBatchView y, ThreadPool& pool,
        const std::function<void(Pursuit&, std::size_t row, std::size_t first)>& visit) const;

    Structure structure_;
    Grouping grouping_;
    std::vector<UnitColumns> blocks_;  ///< of one repetition
};

Solution solve_omp(const Operator& op, ConstBatchView y, const OmpOptions& options,
                   ThreadPool& pool, const Grouping& grouping = {});

}  // namespace pibinn
