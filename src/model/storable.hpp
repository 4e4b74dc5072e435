#pragma once

#include "pibinn/network_spec.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {

/// Refuses a network whose file would be refused by Model::load, before anybody trains it.
void require_storable(const NetworkSpec& spec, const Operator& op);

}  // namespace pibinn
