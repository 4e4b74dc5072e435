#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "algebra/quantiser.hpp"
#include "pibinn/network_spec.hpp"

namespace pibinn {

/// All that a weight kind is. Every other part of the program asks these rules and never for the
/// kind itself, so that a new kind is one file of this folder and one line of PIBINN_WEIGHT_KINDS.
struct WeightRules {
    std::size_t bits_per_link = 32;  ///< in the model file
    Quantiser quantiser = {};
    /// What the model file stores for each level of the quantiser, `bits_per_link` wide. All other
    /// codes are invalid. Empty where the file stores each link as a float32.
    std::span<const std::uint8_t> codes = {};

    bool quantised() const { return !quantiser.levels.empty(); }
    /// One scale for the whole network, trained like a weight.
    bool has_global_scale() const { return quantiser.scale == Quantiser::Scale::global; }
    bool has_level(float level) const;
    /// Planes of signs in which kernels hold such links: one for the levels -1 and 1, two for -1, 0
    /// and 1, none for other levels, which kernels cannot pack.
    std::size_t sign_planes() const;

    /// The code of a link in the model file; nothing for a value that is not on a level.
    std::optional<unsigned> encode(float value, float scale) const;
    /// The value of a code; nothing for an invalid one.
    std::optional<float> decode(unsigned code, float scale) const;
};

const WeightRules& rules_of(WeightKind kind);

// Levels and codes that several kinds share.
inline constexpr float kSignLevels[] = {-1, 1};
inline constexpr std::uint8_t kSignCodes[] = {0, 1};

#define PIBINN_DECLARE_RULES(kind, name) extern const WeightRules kind##_rules;
PIBINN_WEIGHT_KINDS(PIBINN_DECLARE_RULES)
#undef PIBINN_DECLARE_RULES

}  // namespace pibinn
