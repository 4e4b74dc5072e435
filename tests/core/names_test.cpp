#include "core/names.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

enum class Colour { red, green };
constexpr NameTable<Colour, 2> kColours{{{Colour::red, "red"}, {Colour::green, "green"}}};
constexpr std::array<std::string_view, 3> kWords{"one-bit", "ternary", "float"};

TEST(Names, TheNearestIsFoundForATypingError) {
    EXPECT_EQ(nearest_name("one-bt", kWords), "one-bit");
    EXPECT_EQ(nearest_name("tenrary", kWords), "ternary");
    EXPECT_EQ(nearest_name("floaat", kWords), "float");
    EXPECT_EQ(nearest_name("folat", kWords), "float");
    EXPECT_EQ(nearest_name("something else", kWords), "");
}

TEST(Names, TheHintAsksOrListsWhatExists) {
    EXPECT_EQ(hint_for_unknown("one-bits", kWords), "did you mean 'one-bit'?");
    EXPECT_EQ(hint_for_unknown("xyz", kWords), "choose one of one-bit, ternary, float");
}

TEST(Names, ParseAndNameAreInverse) {
    for (Colour c : {Colour::red, Colour::green})
        EXPECT_EQ(parse_name(kColours, name_of(kColours, c), "colour"), c);
}

TEST(Names, AnUnknownWordIsAUsageErrorWithAHint) {
    try {
        parse_name(kColours, "gren", "colour");
        FAIL() << "accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::usage);
        EXPECT_STREQ(e.what(), "unknown colour 'gren'; did you mean 'green'?");
    }
}

}  // namespace
}  // namespace pibinn
