#include "model/weights/weight_rules.hpp"

namespace pibinn {

namespace {
constexpr float kLevels[] = {-1, 0, 1};
constexpr std::uint8_t kCodes[] = {3, 0, 1};
}  // namespace

// s clamp(round(w / s), -1, 1), s = mean|w| of the layer. Codes are in two's complement.
const WeightRules ternary_rules{.bits_per_link = 2,
                                .quantiser = {.levels = kLevels, .scale = Quantiser::Scale::layer},
                                .codes = kCodes};

}  // namespace pibinn
