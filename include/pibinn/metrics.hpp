// room: model
#pragma once

#include <cstddef>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// How near estimates come to the truth, over the rows of a batch. Computed in float64.
struct Metrics {
    double nmse_db = 0;         ///< mean of ||xhat - x||^2 / ||x||^2, in dB: the paper's
    double energy_nmse_db = 0;  ///< sum ||xhat - x||^2 / sum ||x||^2, in dB
    double median_nmse_db = 0;  ///< median of the ratios, in dB: what a typical signal sees
    double support_f1 = 0;      ///< F1 of the non-zero entries, all signals together
    std::size_t signals = 0;
    std::size_t skipped_zero_signals = 0;  ///< zero truths have no ratio and are left out of it
    double exact_share = 0;  ///< signals with an error of at most 1e-6 of their energy
};

Metrics measure(ConstBatchView truth, ConstBatchView estimate);

/// Signals whose support is found exactly and whose relative error is at most `tolerance`.
std::size_t count_exact(ConstBatchView truth, ConstBatchView estimate, double tolerance);

/// 10 log10, with a floor of -400 dB so that an exact recovery stays a number in every format.
double to_db(double ratio);

}  // namespace pibinn
