#pragma once

#include <functional>

#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Refuses measurements of the wrong width and entries that are not finite: one NaN would spread
/// through a product to the other signals of its batch.
void require_measurements(const Structure& structure, ConstBatchView y);

/// Refuses pairs that do not fit the structure or each other.
void require_pairs(const Structure& structure, ConstBatchView x, ConstBatchView y);

/// What solvers are tuned by: the mean of ||xhat - x||^2 / ||x||^2 over the signals that are not
/// zero, in dB, from the squared error of each. An input error when all of them are zero.
double mean_nmse_db(ConstBatchView x, const std::function<double(std::size_t)>& squared_error);
double mean_nmse_db(ConstBatchView x, ConstBatchView estimate);

}  // namespace pibinn
