// room: solvers
#pragma once

#include <cstddef>
#include <vector>

#include "pibinn/operator.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn {

struct OmpOptions {
    /// Columns that a block may use; 0 means as many as it has rows.
    std::size_t sparsity = 0;
    /// Stops once ||y - A x|| is at most this share of ||y||; entries whose own share of y is
    /// smaller still are left zero.
    double tolerance = 1e-5;
};

/// Orthogonal matching pursuit: takes the column most correlated with what is left to explain, fits
/// all chosen columns by least squares, and again. It stops at the sparsity, at the tolerance, at
/// as many columns as rows, or when the best column depends on the chosen ones.
///
/// Every diagonal block is a problem of its own, with its own sparsity and tolerance. `mask` is one
/// problem. What depends on the operator alone is prepared once, so one solver serves many batches.
class OmpSolver {
public:
    OmpSolver(const Operator& op, ThreadPool& pool);

    /// Safe to call from several threads. The same bytes for any number of threads.
    Solution solve(ConstBatchView y, const OmpOptions& options, ThreadPool& pool) const;

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
    struct Pursuit;

    Structure structure_;
    std::vector<UnitColumns> blocks_;  ///< of one repetition
};

Solution solve_omp(const Operator& op, ConstBatchView y, const OmpOptions& options,
                   ThreadPool& pool);

}  // namespace pibinn
