#pragma once

#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Refuses measurements of the wrong width and entries that are not finite: one NaN would spread
/// through a product to the other signals of its batch.
void require_measurements(const Structure& structure, ConstBatchView y);

/// Refuses pairs that do not fit the structure or each other.
void require_pairs(const Structure& structure, ConstBatchView x, ConstBatchView y);

}  // namespace pibinn
