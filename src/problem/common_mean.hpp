#pragma once

#include <vector>

#include "pibinn/operator.hpp"

namespace pibinn {

/// Whether the columns of an operator have a mean in common that is a direction of its own, as
/// those of zeros and ones have it: with it ||A||^2 is more than 1.3 times as large. An iterative
/// solver whose steps suit all other directions overshoots in this one. False where blocks have few
/// measurements to spare, where a column would hardly be measured any more, and for complex
/// operators.
bool has_common_mean(const Operator& op);

/// ||P A||^2, where P takes the mean of a block's measurements off, by iteration.
double centred_squared_norm(const Operator& op);

/// The mean squared norm of a column that a network meets, whose residuals may be centred.
double column_energy(const Operator& op, bool centred);

/// The links that weights start from, one per link. To centred residuals the columns of a full
/// block are the same less any level; less the middle of their entries, zeros and ones are signs.
std::vector<float> starting_links(const Operator& op, bool centred);

/// Refuses residuals that an operator does not let be centred.
void require_centre(const Operator& op);

}  // namespace pibinn
