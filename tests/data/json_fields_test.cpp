#include "data/json_fields.hpp"

#include <functional>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

TEST(JsonFields, AreGivenByTheirTypes) {
    const nlohmann::json object = parse_json_object(
        R"({"w": "word", "x": -0.5, "n": 7, "f": true, "p": [[1, 2], [3, 4]]})", "it");
    const JsonFields fields(object, "it");
    EXPECT_TRUE(fields.has("w"));
    EXPECT_FALSE(fields.has("v"));
    EXPECT_EQ(fields.word("w"), "word");
    EXPECT_EQ(fields.number("x"), -0.5);
    EXPECT_EQ(fields.number("n"), 7);
    EXPECT_EQ(fields.whole("n", 7, 7), 7u);
    EXPECT_TRUE(fields.flag("f"));
    const std::vector<std::pair<std::size_t, std::size_t>> pairs{{1, 2}, {3, 4}};
    EXPECT_EQ(fields.pairs("p", 4), pairs);
    EXPECT_EQ(fields.choice("w", [](const std::string& w) { return w.size(); }), 4u);
}

/// Every reader of a field, by the name of the type it reads.
const std::map<std::string, std::function<void(const JsonFields&)>> kReaders{
    {"word", [](const JsonFields& f) { f.word("k"); }},
    {"number", [](const JsonFields& f) { f.number("k"); }},
    {"flag", [](const JsonFields& f) { f.flag("k"); }},
    {"whole", [](const JsonFields& f) { f.whole("k", 1, 9); }},
    {"pairs", [](const JsonFields& f) { f.pairs("k", 9); }},
    {"choice", [](const JsonFields& f) {
         f.choice("k",
                  [](const std::string& w) { return w == "good" ? 1 : (fail_usage("bad"), 0); });
     }}};

TEST(JsonFields, OfAnotherTypeAreInputErrorsThatNameThem) {
    const std::map<std::string, std::vector<std::string>> fitting{{"\"good\"", {"word", "choice"}},
                                                                  {"\"other\"", {"word"}},
                                                                  {"5", {"number", "whole"}},
                                                                  {"0", {"number"}},
                                                                  {"10", {"number"}},
                                                                  {"-1", {"number"}},
                                                                  {"1.5", {"number"}},
                                                                  {"true", {"flag"}},
                                                                  {"null", {}},
                                                                  {"{}", {}},
                                                                  {"[]", {"pairs"}},
                                                                  {"[[1,2]]", {"pairs"}},
                                                                  {"[[1,0]]", {}},
                                                                  {"[[1,10]]", {}},
                                                                  {"[[1]]", {}},
                                                                  {"[[1,2,3]]", {}},
                                                                  {"[[1,\"2\"]]", {}},
                                                                  {"[1,2]", {}}};
    for (const auto& [value, types] : fitting)
        for (const auto& [type, read] : kReaders) {
            const nlohmann::json object = parse_json_object("{\"k\": " + value + "}", "it");
            const bool fits = std::find(types.begin(), types.end(), type) != types.end();
            try {
                read(JsonFields(object, "it"));
                EXPECT_TRUE(fits) << value << " as " << type;
            } catch (const Error& error) {
                EXPECT_FALSE(fits) << value << " as " << type << ": " << error.what();
                EXPECT_EQ(error.kind(), ErrorKind::input);
                EXPECT_TRUE(error.message().starts_with("it: ")) << error.message();
            }
        }
}

TEST(JsonFields, AreOfAnObjectThatNestsNoDeeperThanOurs) {
    const auto kind_of = [](const std::string& text) {
        try {
            parse_json_object(text, "it");
        } catch (const Error& error) {
            return error.kind();
        }
        return ErrorKind::internal;
    };
    for (const char* text : {"", "[]", "5", "{", "{\"a\":1e999}", "{}x", "\xff"})
        EXPECT_EQ(kind_of(text), ErrorKind::input) << text;
    const auto nested = [](std::size_t depth) {
        return "{\"a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
    };
    EXPECT_NO_THROW(parse_json_object(nested(15), "it"));
    EXPECT_EQ(kind_of(nested(16)), ErrorKind::input);
    EXPECT_EQ(kind_of(nested(200'000)), ErrorKind::input);
    EXPECT_EQ(kind_of("{\"a\":" + std::string(200'000, '[')), ErrorKind::input);
}

}  // namespace
}  // namespace pibinn
