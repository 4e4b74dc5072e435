#pragma once

#include <vector>

#include "pibinn/metrics.hpp"

namespace pibinn {

/// `measure` of more rows than memory holds: batches are added one after the other, and the result
/// is that of all their rows together, to the bit.
class MetricsSum {
public:
    void add(ConstBatchView truth, ConstBatchView estimate);
    Metrics result() const;

private:
    std::size_t signals_ = 0;
    std::vector<double> ratios_;  ///< of all signals that are not zero: the median needs them
    double error_ = 0;
    double energy_ = 0;
    std::size_t found_ = 0;
    std::size_t wrong_ = 0;
    std::size_t missed_ = 0;
};

}  // namespace pibinn
