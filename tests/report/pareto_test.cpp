#include "report/pareto.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

using Indices = std::vector<std::size_t>;

TEST(ParetoFront, KeepsWhatNothingBeatsByRisingCost) {
    const std::vector<Trade> trades{{100, -20}, {10, -5}, {50, -4}, {60, -12}, {200, -20}};
    EXPECT_EQ(pareto_front(trades), (Indices{1, 3, 0}));
}

TEST(ParetoFront, OfEqualCostTheBetterAndOfEqualErrorTheCheaper) {
    EXPECT_EQ(pareto_front(std::vector<Trade>{{10, -5}, {10, -6}}), Indices{1});
    EXPECT_EQ(pareto_front(std::vector<Trade>{{11, -5}, {10, -5}}), Indices{1});
}

TEST(ParetoFront, KeepsEqualsAndLeavesOutWhatIsNoNumber) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(pareto_front(std::vector<Trade>{{10, -5}, {10, -5}}), (Indices{0, 1}));
    EXPECT_EQ(pareto_front(std::vector<Trade>{{10, nan}, {infinity, -5}, {20, -1}}), Indices{2});
    EXPECT_EQ(pareto_front(std::vector<Trade>{{10, -infinity}, {20, -1}}), Indices{1});
    EXPECT_EQ(pareto_front({}), Indices{});
}

}  // namespace
}  // namespace pibinn
