#pragma once

#include "algebra/backend.hpp"

namespace pibinn::cpu {

/// The weighted loss of all rows, and its gradient by x. `group` rows at a time are one signal,
/// with one norm and the weight of their first.
double row_loss(RowLoss kind, ConstBatchView x, ConstBatchView target,
                std::span<const float> row_weights, std::size_t group, BatchView gradient);

}  // namespace pibinn::cpu
