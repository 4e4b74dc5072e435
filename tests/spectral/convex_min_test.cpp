#include "spectral/convex_min.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace pibinn {

TEST(ConvexMin, FindsTheMinimumOfAKinkAndOfAParabola) {
    const auto kink = [](double x) { return std::max(1 - 2 * x, 4 * x - 1); };
    EXPECT_NEAR(convex_min(kink, 0, 8, 1e-9), 1.0 / 3, 1e-8);
    const auto parabola = [](double x) { return (x - 5) * (x - 5); };
    EXPECT_NEAR(convex_min(parabola, 0, 8, 1e-7), 5, 1e-5);
}

TEST(ConvexMin, FindsAMinimumAtEitherEnd) {
    EXPECT_NEAR(convex_min([](double x) { return x; }, 0, 2, 1e-7), 0, 1e-6);
    EXPECT_NEAR(convex_min([](double x) { return -x; }, 0, 2, 1e-7), 2, 1e-6);
}

TEST(ConvexMin, StaysBetweenItsEnds) {
    const auto watched = [](double x) {
        EXPECT_GE(x, 1);
        EXPECT_LE(x, 2);
        return std::abs(x - 1.5);
    };
    EXPECT_NEAR(convex_min(watched, 1, 2, 1e-12), 1.5, 1e-11);
}

TEST(LastInside, IsABorderAtWhichTheConditionStillHolds) {
    for (const bool rising : {true, false}) {
        const auto holds = [&](double x) { return rising ? x <= 0.7 : x >= 0.7; };
        const double border = last_inside(holds, rising ? 0 : 2, rising ? 2 : 0, 1e-10);
        EXPECT_TRUE(holds(border));
        EXPECT_NEAR(border, 0.7, 1e-9);
    }
}

}  // namespace pibinn
