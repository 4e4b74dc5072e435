#include "model/weights/weight_rules.hpp"

namespace pibinn {

// The operator itself: W_k = A. The model file stores A anyway.
const WeightRules tied_rules{.bits_per_link = 0};

}  // namespace pibinn
