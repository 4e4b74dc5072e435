#include "core/nesting.hpp"

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn {
namespace {

std::size_t json_depth(std::string_view text) { return nesting_depth(text, TextSyntax::json); }
std::size_t toml_depth(std::string_view text) { return nesting_depth(text, TextSyntax::toml); }

std::string times(std::size_t count, const std::string& text) {
    std::string result;
    for (std::size_t i = 0; i < count; ++i) result += text;
    return result;
}

TEST(Nesting, OfJsonIsThatOfItsBrackets) {
    EXPECT_EQ(json_depth(""), 0u);
    EXPECT_EQ(json_depth("1.5.5.5"), 0u);
    EXPECT_EQ(json_depth(R"({"a": [1, [2]], "b": {}})"), 3u);
    EXPECT_EQ(json_depth(times(200'000, "[")), 200'000u);
    EXPECT_EQ(json_depth(times(100'000, "{\"a\":") + times(100'000, "}")), 100'000u);
}

TEST(Nesting, OfJsonPassesOverStrings) {
    EXPECT_EQ(json_depth(R"({"[[[[": "{{{{\"[[["})"), 1u);
    EXPECT_EQ(json_depth(R"(["\\", [[1]]])"), 3u);
    EXPECT_EQ(json_depth(R"("'", [['['], 1])"), 3u) << "an apostrophe quotes nothing";
}

TEST(Nesting, OfTomlCountsBracketsAndDotsOfKeys) {
    EXPECT_EQ(toml_depth("a = 1"), 0u);
    EXPECT_EQ(toml_depth("[[train.stage]]\nblocks = [[1, 2], [3, 4]]"), 3u);
    EXPECT_EQ(toml_depth("a.\"b\" . 'c' = 1"), 2u);
    EXPECT_EQ(toml_depth("x = [0.1, 0.2, 0.3, 0.4]"), 2u);
    EXPECT_EQ(toml_depth("a.b = 1\nc.d = 2"), 1u);
    EXPECT_EQ(toml_depth("a" + times(100'000, ".a") + " = 1"), 100'000u);
    EXPECT_EQ(toml_depth("a = " + times(100'000, "{a=")), 100'000u);
}

TEST(Nesting, OfTomlPassesOverStringsAndComments) {
    EXPECT_EQ(toml_depth("a = 1 # [[[[\nb = '[[[['\nc = \"[[\\\"[[\""), 0u);
    EXPECT_EQ(toml_depth("a = \"\"\"\n[[[ \" [[ \"\" [\n\"\"\"\nb = '''\n[[' \n'''"), 0u);
}

TEST(Nesting, CannotBeHiddenBehindAString) {
    EXPECT_EQ(toml_depth("a = [\"\"\"x\"\"\"\", [[1]]]"), 3u)
        << "four quotes end a string of lines";
    EXPECT_EQ(toml_depth("a = ['''x''''', [[1]]]"), 3u);
    EXPECT_EQ(toml_depth("a = [\"\", [[1]]]"), 3u) << "an empty string";
    EXPECT_EQ(toml_depth("a = ['\\', [[1]]]"), 3u) << "an apostrophe cannot be escaped";
    EXPECT_EQ(toml_depth("a = \"x\nb = [[[1]]]"), 3u) << "a string ends with its line";
}

TEST(Nesting, BeyondTheLimitIsAnInputErrorThatTellsBoth) {
    EXPECT_NO_THROW(require_depth("[[1]]", TextSyntax::json, 2, "it"));
    try {
        require_depth("[[[1]]]", TextSyntax::json, 2, "it");
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
        EXPECT_EQ(error.message(), "it nests 3 levels deep; at most 2 are read");
    }
}

}  // namespace
}  // namespace pibinn
