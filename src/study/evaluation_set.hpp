#pragma once

#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"

namespace pibinn::study {

/// What a model is judged on: coefficients of known signals, given in their own unit, and their
/// measurements, or those that the model's operator makes of them where none are given.
DataSet evaluation_set(const Model& model, ConstBatchView signals, ConstBatchView measurements,
                       ThreadPool& pool);

}  // namespace pibinn::study
