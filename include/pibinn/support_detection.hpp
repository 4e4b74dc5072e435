// room: solvers
#pragma once

#include <cstddef>

#include "pibinn/grouping.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn {

struct SupportDetectionOptions {
    std::size_t paths = 3;  ///< L, which it is told
    std::size_t width = 8;  ///< V, beams per path
};

/// Support detection for channels in beamspace (Gao, Dai, Han and Wang, 2017): a path is a peak
/// whose energy leaks into the beams beside it. L times it takes the strongest beam of A^H r, fits
/// the V beams around it to r by least squares and takes them off. In the end it fits all these
/// beams to y together. Of V beams V/2 stand before the strongest one, rounded down; the first beam
/// follows the last.
class SupportDetection {
public:
    /// Entries of one group are the parts of one beam.
    SupportDetection(const Operator& op, const Grouping& grouping, ThreadPool& pool);

    /// Safe to call from several threads. The same bytes for any number of threads.
    Solution solve(ConstBatchView y, const SupportDetectionOptions& options,
                   ThreadPool& pool) const;
    /// Refuses options that ask for more beams than measurements can tell apart.
    void require(const SupportDetectionOptions& options) const;
    /// The largest number of beams per path that may be asked for.
    std::size_t most_width(std::size_t paths) const;

private:
    struct Workspace;
    void detect(const SupportDetectionOptions& options, Workspace& work) const;
    void fit(Workspace& work, const Matrix<double>& correlations) const;

    Structure structure_;
    Grouping grouping_;
    std::size_t beams_ = 0;
    AlignedBuffer<double> values_;  ///< links of one repetition
    Matrix<double> gram_;
};

struct SupportDetectionChoice {
    SupportDetectionOptions options;
    double nmse_db = 0;  ///< mean of ||xhat - x||^2 / ||x||^2 over the signals that are not zero
};

/// The width of least nmse on `pairs`, of 1 to 24; the first of equals.
SupportDetectionChoice best_width(const SupportDetection& solver, const DataSet& pairs,
                                  std::size_t paths, ThreadPool& pool);

}  // namespace pibinn
