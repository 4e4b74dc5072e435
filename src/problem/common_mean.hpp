#pragma once

#include "pibinn/operator.hpp"

namespace pibinn {

/// Whether the columns of an operator have a mean in common that is a direction of its own, as
/// those of zeros and ones have it. An iterative solver whose steps suit all other directions
/// overshoots in this one. False where centring would take more than nine tenths of a column's
/// energy, or one of a few measurements, and for complex operators and convolutions.
bool has_common_mean(const Operator& op);

/// ||P A||^2, where P takes the mean of a block's measurements off: as Operator::squared_norm, by
/// iteration.
double centred_squared_norm(const Operator& op);

/// The mean squared norm of a column that a network meets, whose residuals may be centred.
double column_energy(const Operator& op, bool centred);

}  // namespace pibinn
