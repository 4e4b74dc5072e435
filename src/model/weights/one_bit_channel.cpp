#include "model/weights/weight_rules.hpp"

namespace pibinn {

// s sign(w), s = mean|w| of the links of one output.
const WeightRules one_bit_channel_rules{
    .bits_per_link = 1,
    .quantiser = {.levels = kSignLevels, .scale = Quantiser::Scale::channel},
    .codes = kSignCodes};

}  // namespace pibinn
