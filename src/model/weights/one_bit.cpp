#include "model/weights/weight_rules.hpp"

namespace pibinn {

// lambda sign(w), with one lambda for the whole network.
const WeightRules one_bit_rules{
    .bits_per_link = 1,
    .quantiser = {.levels = kSignLevels, .scale = Quantiser::Scale::global},
    .codes = kSignCodes};

}  // namespace pibinn
