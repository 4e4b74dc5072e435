#include "core/static_count.hpp"

#include <array>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

TEST(WithStaticCount, GivesEachCountAsAConstant) {
    for (std::size_t n = 1; n <= 5; ++n)
        EXPECT_EQ(
            WithStaticCount<5>(
                n, [](auto count) { return std::array<char, decltype(count)::value>().size(); }),
            n);
}

TEST(WithStaticCount, MayBeginAtZeroOrAtAnyOtherCount) {
    EXPECT_EQ((WithStaticCount<3, 0>(0, [](auto count) { return count() + 10; })), 10U);
    EXPECT_EQ((WithStaticCount<7, 6>(6, [](auto count) { return count() + 10; })), 16U);
}

TEST(WithStaticCount, TakesTheNearestCountOutsideItsRange) {
    EXPECT_EQ((WithStaticCount<4, 2>(0, [](auto count) { return count(); })), 2U);
    EXPECT_EQ((WithStaticCount<4, 2>(9, [](auto count) { return count(); })), 4U);
}

TEST(WithStaticCount, CallsOnceAndMayReturnNothing) {
    std::size_t calls = 0;
    WithStaticCount<4>(3, [&](auto count) { calls += count; });
    EXPECT_EQ(calls, 3U);
}

}  // namespace
}  // namespace pibinn
