#include "problem/site_magnitudes.hpp"

#include <gtest/gtest.h>

namespace pibinn {
namespace {

Batch rows_of(std::size_t cols, const std::vector<float>& values) {
    Batch batch(values.size() / cols, cols);
    std::copy(values.begin(), values.end(), batch.data());
    return batch;
}

TEST(SiteMagnitudes, AddUpPartsAndVectors) {
    const std::vector<float> row{3, 0, 4, 1, 0, 2, 0, 2};
    EXPECT_EQ(site_magnitudes({false, 1}, row), (std::vector<float>{3, 0, 4, 1, 0, 2, 0, 2}));
    EXPECT_EQ(site_magnitudes({true, 1}, row)[2], 4);
    EXPECT_EQ(site_magnitudes({true, 1}, row)[0], 3);
    // Two complex vectors of two entries: (3 + 4i, i) and (0, 2 + 2i).
    EXPECT_EQ(site_magnitudes({true, 2}, row), (std::vector<float>{5, 3}));
}

TEST(ActivityErrors, BalanceMissesAndFalseAlarms) {
    // Four active users at 4, 3, 2 and 1, and six silent ones.
    const Batch truth = rows_of(10, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0});
    const auto errors = [&](std::vector<float> found) {
        return activity_errors({}, truth, rows_of(10, found));
    };
    ActivityErrors e = errors({4, 3, 2, 1, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(e.missed, 0);
    EXPECT_EQ(e.false_alarms, 0);
    EXPECT_EQ(e.threshold, 1);
    e = errors({4, 3, 2, 1, 1.5F, 0, 0, 0, 0, 0});
    EXPECT_DOUBLE_EQ(std::max(e.missed, e.false_alarms), 1.0 / 6);
    EXPECT_EQ(e.missed, 0);
    EXPECT_EQ(e.threshold, 1);
    // Two silent users above the last active one, and one above the third.
    e = errors({4, 3, 2, 1, 2.5F, 1.5F, 0, 0, 0, 0});
    EXPECT_DOUBLE_EQ(e.missed, 0.25);
    EXPECT_DOUBLE_EQ(e.false_alarms, 1.0 / 6);
    EXPECT_EQ(e.threshold, 2);
    // What is not recovered at all cannot be found by a lower threshold.
    e = errors({4, 3, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_DOUBLE_EQ(e.missed, 0.5);
    EXPECT_EQ(e.false_alarms, 0);
    e = errors({0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    EXPECT_EQ(e.missed, 1);
    EXPECT_EQ(e.false_alarms, 0);
    // Equal magnitudes stand or fall together.
    e = errors({1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_EQ(e.missed, 0);
    EXPECT_EQ(e.false_alarms, 1);
}

}  // namespace
}  // namespace pibinn
