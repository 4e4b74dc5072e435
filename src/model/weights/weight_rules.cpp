#include "model/weights/weight_rules.hpp"

#include <algorithm>
#include <array>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

#define PIBINN_NAME(kind, name) std::pair{WeightKind::kind, std::string_view(name)},
constexpr std::array kKindNames{PIBINN_WEIGHT_KINDS(PIBINN_NAME)};
#undef PIBINN_NAME

#define PIBINN_KIND(kind, name) WeightKind::kind,
constexpr std::array kKinds{PIBINN_WEIGHT_KINDS(PIBINN_KIND)};
#undef PIBINN_KIND

}  // namespace

std::string_view to_string(WeightKind kind) { return name_of(kKindNames, kind); }

WeightKind parse_weight_kind(std::string_view name) {
    return parse_name(kKindNames, name, "weights");
}

std::span<const WeightKind> weight_kinds() { return kKinds; }

const WeightRules& rules_of(WeightKind kind) {
    switch (kind) {
#define PIBINN_CASE(kind, name) \
    case WeightKind::kind:      \
        return kind##_rules;
        PIBINN_WEIGHT_KINDS(PIBINN_CASE)
#undef PIBINN_CASE
    }
    ensure(false, "a weight kind that does not exist");
    return real_rules;
}

std::size_t bits_per_link(WeightKind kind) { return rules_of(kind).bits_per_link; }

bool WeightRules::has_level(float level) const {
    return std::find(quantiser.levels.begin(), quantiser.levels.end(), level) !=
           quantiser.levels.end();
}

std::size_t WeightRules::sign_planes() const {
    if (!has_level(-1) || !has_level(1)) return 0;
    const std::size_t count = quantiser.levels.size();
    if (count == 2) return 1;
    return count == 3 && has_level(0) ? 2 : 0;
}

std::optional<unsigned> WeightRules::encode(float value, float scale) const {
    // With a scale of 0 all levels coincide: the level 0 comes first, otherwise the largest.
    std::optional<unsigned> code;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        if (quantiser.levels[i] * scale != value) continue;
        code = codes[i];
        if (quantiser.levels[i] == 0) break;
    }
    return code;
}

std::optional<float> WeightRules::decode(unsigned code, float scale) const {
    for (std::size_t i = 0; i < codes.size(); ++i)
        if (codes[i] == code) return quantiser.levels[i] * scale;
    return std::nullopt;
}

}  // namespace pibinn
