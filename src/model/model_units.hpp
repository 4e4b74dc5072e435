#pragma once

#include "pibinn/model.hpp"
#include "problem/units.hpp"

namespace pibinn {

/// A network that was trained in these units as the same network in those of the user, whose
/// operator `op` is: it recovers units.signal times what the given one does, from measurements that
/// are units.measurement() times as large. Both units go into weights and thresholds.
Model in_users_units(Model model, const Operator& op, const Units& units);

}  // namespace pibinn
