#include "pibinn/error.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

TEST(Ensure, SaysWhatFailedWithWhichValuesAndWhere) {
    const std::size_t rows = 3;
    const int line = __LINE__ + 2;
    try {
        ensure(rows > 7, "rows enough", {{"rows", rows}, {"least", 7.25}, {"large", 1ULL << 40U}});
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::internal);
        EXPECT_EQ(error.message(),
                  "internal check failed: rows enough (rows = 3, least = 7.25, large = "
                  "1099511627776) at error_test.cpp:" +
                      std::to_string(line));
        EXPECT_EQ(error.hint(), "please report this as a bug");
    }
}

TEST(Ensure, IsSilentWhereItHolds) {
    EXPECT_NO_THROW(ensure(true, "nothing"));
    EXPECT_NO_THROW(ensure(true, "nothing", {{"value", 1}}));
}

TEST(Error, JoinsMessageAndHint) {
    EXPECT_STREQ(Error(ErrorKind::usage, "what", "hint").what(), "what; hint");
    EXPECT_STREQ(Error(ErrorKind::usage, "what").what(), "what");
}

TEST(Error, IsOneLineWhateverItQuotes) {
    const Error error(ErrorKind::input, "unknown key 'a\nb\x1b[2J'", "did you mean '\t'?");
    EXPECT_EQ(error.message(), "unknown key 'a\\x0ab\\x1b[2J'");
    EXPECT_EQ(error.hint(), "did you mean '\\x09'?");
    EXPECT_STREQ(error.what(), "unknown key 'a\\x0ab\\x1b[2J'; did you mean '\\x09'?");
}

}  // namespace
}  // namespace pibinn
