#pragma once

#include "algebra/backend.hpp"

namespace pibinn::cpu {

/// The weighted loss of all rows, and its gradient by x.
double row_loss(RowLoss kind, ConstBatchView x, ConstBatchView target,
                std::span<const float> row_weights, BatchView gradient);

}  // namespace pibinn::cpu
