#pragma once

#include "algebra/sites.hpp"
#include "pibinn/network_spec.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// Which entries of a signal the activation of a network sees together. Refuses groups that do not
/// fit the structure.
Sites sites_of(const NetworkSpec& spec, const Structure& structure);

}  // namespace pibinn
