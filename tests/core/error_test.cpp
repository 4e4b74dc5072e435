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
    const Error both(ErrorKind::input, "expected 50, got 48", "check the file");
    EXPECT_STREQ(both.what(), "expected 50, got 48; check the file");
    EXPECT_EQ(both.message(), "expected 50, got 48");
    EXPECT_EQ(both.hint(), "check the file");
    EXPECT_STREQ(Error(ErrorKind::failed, "diverged").what(), "diverged");
}

TEST(Error, EachFailureHasItsKind) {
    const auto kind_of = [](auto&& action) {
        try {
            action();
        } catch (const Error& e) {
            return e.kind();
        }
        return ErrorKind::failed;
    };
    EXPECT_EQ(kind_of([] { fail_usage("a"); }), ErrorKind::usage);
    EXPECT_EQ(kind_of([] { fail_input("a"); }), ErrorKind::input);
    EXPECT_EQ(kind_of([] { fail_io("a"); }), ErrorKind::io);
    EXPECT_EQ(kind_of([] { ensure(false, "a"); }), ErrorKind::internal);
    EXPECT_NO_THROW(ensure(true, "a"));
}

TEST(Error, IsOneLineWhateverItQuotes) {
    const Error error(ErrorKind::input, "unknown key 'a\nb\x1b[2J'", "did you mean '\t'?");
    EXPECT_EQ(error.message(), "unknown key 'a\\x0ab\\x1b[2J'");
    EXPECT_EQ(error.hint(), "did you mean '\\x09'?");
    EXPECT_STREQ(error.what(), "unknown key 'a\\x0ab\\x1b[2J'; did you mean '\\x09'?");
}

}  // namespace
}  // namespace pibinn
