#include "model/weights/weight_rules.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

std::set<std::string> kinds_where(bool (*holds)(const WeightRules&)) {
    std::set<std::string> names;
    for (const WeightKind kind : weight_kinds())
        if (holds(rules_of(kind))) names.emplace(to_string(kind));
    return names;
}

using Names = std::set<std::string>;

TEST(WeightRules, EveryKindIsRegisteredUnderItsName) {
    EXPECT_EQ(kinds_where([](const WeightRules&) { return true; }),
              (Names{"float", "one-bit", "one-bit-layer", "one-bit-channel", "ternary", "tied"}));
    for (const WeightKind kind : weight_kinds())
        EXPECT_EQ(parse_weight_kind(to_string(kind)), kind);
}

TEST(WeightRules, OnlyOneBitTrainsAGlobalScale) {
    EXPECT_EQ(kinds_where([](const WeightRules& r) { return r.has_global_scale(); }),
              Names{"one-bit"});
}

TEST(WeightRules, OnlyFloatAndTiedAreNotQuantised) {
    EXPECT_EQ(kinds_where([](const WeightRules& r) { return !r.quantised(); }),
              (Names{"float", "tied"}));
    EXPECT_EQ(kinds_where([](const WeightRules& r) { return r.bits_per_link == 0; }),
              Names{"tied"});
}

TEST(WeightRules, KernelsHoldSignsInOnePlaneAndTernaryInTwo) {
    EXPECT_EQ(kinds_where([](const WeightRules& r) { return r.sign_planes() == 1; }),
              (Names{"one-bit", "one-bit-layer", "one-bit-channel"}));
    EXPECT_EQ(kinds_where([](const WeightRules& r) { return r.sign_planes() == 2; }),
              Names{"ternary"});
    static constexpr float quarters[] = {-1, -0.25F, 0.25F, 1};
    EXPECT_EQ((WeightRules{.quantiser = {.levels = quarters}}.sign_planes()), 0u);
}

TEST(WeightRules, CodesFitTheirBitsAndEveryLevelComesBack) {
    for (const WeightKind kind : weight_kinds()) {
        const WeightRules& rules = rules_of(kind);
        ASSERT_EQ(rules.codes.size(), rules.quantiser.levels.size()) << to_string(kind);
        for (const float level : rules.quantiser.levels) {
            const auto code = rules.encode(level * 0.7F, 0.7F);
            ASSERT_TRUE(code.has_value()) << to_string(kind);
            EXPECT_LT(*code, 1U << rules.bits_per_link);
            EXPECT_EQ(rules.decode(*code, 0.7F), level * 0.7F);
        }
    }
}

TEST(WeightRules, TernaryHasOneUnusedCode) {
    EXPECT_EQ(ternary_rules.decode(0, 0.5F), 0.0F);
    EXPECT_EQ(ternary_rules.decode(1, 0.5F), 0.5F);
    EXPECT_EQ(ternary_rules.decode(2, 0.5F), std::nullopt);
    EXPECT_EQ(ternary_rules.decode(3, 0.5F), -0.5F);
}

TEST(WeightRules, AValueBetweenLevelsHasNoCode) {
    EXPECT_EQ(one_bit_rules.encode(0.3F, 0.5F), std::nullopt);
    EXPECT_EQ(ternary_rules.encode(0.3F, 0.5F), std::nullopt);
    EXPECT_EQ(one_bit_rules.encode(0.0F, 0.5F), std::nullopt);
}

TEST(WeightRules, LinksOfAScaleOfZeroAreStoredAsZeroOrPlus) {
    for (const float zero : {0.0F, -0.0F}) {
        EXPECT_EQ(one_bit_channel_rules.encode(zero, 0), 1U);
        EXPECT_EQ(ternary_rules.encode(zero, 0), 0U);
    }
}

}  // namespace
}  // namespace pibinn
