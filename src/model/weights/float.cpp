#include "model/weights/weight_rules.hpp"

namespace pibinn {

// Weights as they are trained.
const WeightRules real_rules{.bits_per_link = 32};

}  // namespace pibinn
