#include "model/weights/weight_rules.hpp"

namespace pibinn {

// s sign(w), s = mean|w| of the layer.
const WeightRules one_bit_layer_rules{
    .bits_per_link = 1,
    .quantiser = {.levels = kSignLevels, .scale = Quantiser::Scale::layer},
    .codes = kSignCodes};

}  // namespace pibinn
