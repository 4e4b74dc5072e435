// room: solvers
#pragma once

#include <cstddef>
#include <span>

#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

struct LinearFitOptions {
    /// Added to the covariance of the measurements, as a share of their mean power.
    double ridge = 1e-6;
    bool remove_mean = false;  ///< fit deviations from the mean and add the mean back
};

/// The linear estimator xhat = M y of least mean squared error: one n x m matrix, block by block
/// where the operator has blocks (one for all repetitions). Of a complex operator M is complex,
/// too, and one matrix serves real and imaginary parts of signals that a real operator measures. A
/// `mask` needs the full matrix, since the best estimate of an entry draws on measurements that do
/// not see it.
class LinearEstimator {
public:
    LinearEstimator() = default;

    /// M = C_xy C_yy^-1 from training pairs; a block learns from its own entries, a repeated
    /// block from those of all repetitions, and a complex one from each pair times 1 and times i:
    /// what is learned of one phase holds for all, as of signals without a phase of their own.
    static LinearEstimator fit(const Structure& structure, const DataSet& pairs,
                               const LinearFitOptions& options, ThreadPool& pool);

    /// Without data: M = A^T (A A^T + s^2 I)^-1, the best for x ~ N(0, I) and noise of deviation
    /// s. At s = 0 it is the least-norm solution.
    static LinearEstimator from_prior(const Operator& op, double noise_std, ThreadPool& pool);

    /// The same with every entry rounded to one of 255 levels, q s_j with q an int8 and one float
    /// scale s_j = max|M_j| / 127 per row: what a careful user would store.
    LinearEstimator rounded_to_int8() const;

    Batch recover(ConstBatchView y, ThreadPool& pool) const;

    /// M in its structure's link order: entry (j, i) of a block stands at first_link + j rows + i.
    const Structure& structure() const { return structure_; }
    std::span<const float> values() const { return values_; }
    /// What is added to each signal entry; empty unless means were removed.
    std::span<const float> offset() const { return offset_; }
    /// 32 bits for every number; rounded, 8 for every entry of M and 32 for each of its rows. The
    /// parts of a complex entry count once.
    std::size_t stored_bits() const;

private:
    explicit LinearEstimator(const Structure& structure);

    Structure structure_;
    AlignedBuffer<float> values_;
    AlignedBuffer<float> offset_;
    std::size_t scales_ = 0;  ///< rows of M, once they are rounded
};

}  // namespace pibinn
