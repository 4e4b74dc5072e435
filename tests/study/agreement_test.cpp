#include "study/agreement.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/error.hpp"

namespace pibinn::study {
namespace {

Agreement judged(const char* quantity, double published, double ours, bool undetermined = false) {
    return agreement_of(find_quantity(quantity, "test"), published, ours, undetermined);
}

TEST(Agreement, ErrorsMatchWithinADecibel) {
    EXPECT_EQ(judged("test_nmse_db", -10, -9), Agreement::matches);
    EXPECT_EQ(judged("test_nmse_db", -10, -11), Agreement::matches);
    EXPECT_EQ(judged("test_nmse_db", -10, -8.99), Agreement::worse);
    EXPECT_EQ(judged("test_nmse_db", -10, -11.01), Agreement::better);
    EXPECT_EQ(judged("test_nmse_db", -10, NAN), Agreement::worse);
}

TEST(Agreement, WhatThePaperLeavesOpenIsNeverWorseButMayMatchOrBeBetter) {
    EXPECT_EQ(judged("test_nmse_db", -10, 0, true), Agreement::undetermined);
    EXPECT_EQ(judged("test_nmse_db", -10, -10, true), Agreement::matches);
    EXPECT_EQ(judged("test_nmse_db", -10, -20, true), Agreement::better);
    EXPECT_EQ(judged("scale", 0.06, 0.1, true), Agreement::undetermined);
}

TEST(Agreement, CountsAreEqualScalesWithinATenthAndTimesNotLonger) {
    EXPECT_EQ(judged("bits_paper", 800160, 800160), Agreement::matches);
    EXPECT_EQ(judged("bits_paper", 800160, 800161), Agreement::differs);
    EXPECT_EQ(judged("scale", 0.06, 0.0655), Agreement::matches);
    EXPECT_EQ(judged("scale", 0.06, 0.0665), Agreement::differs);
    EXPECT_EQ(judged("seconds", 188, 188), Agreement::better);
    EXPECT_EQ(judged("seconds_stage1", 77, 78), Agreement::worse);
    EXPECT_EQ(judged("gap_db", 0.01, 5), Agreement::unjudged);
}

TEST(Agreement, AnUnknownQuantityIsRefusedWithItsPlace) {
    try {
        find_quantity("test_nmse", "experiments/x.toml");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "experiments/x.toml: unknown quantity 'test_nmse'");
        EXPECT_NE(error.hint().find("test_nmse_db"), std::string::npos);
    }
}

TEST(ComparedClaim, HoldsOnlyAgainstEveryRightSide) {
    EXPECT_TRUE((ComparedClaim{-5, {-4, -3}, true, 1}).holds());
    EXPECT_FALSE((ComparedClaim{-5, {-4, -6}, true, 1}).holds());
    EXPECT_FALSE((ComparedClaim{-5, {-5}, true, 1}).holds());
    EXPECT_TRUE((ComparedClaim{1.2, {1}, false, 1}).holds());
    EXPECT_EQ((ComparedClaim{1.25, {1, 2}, false, 2}).evidence(), "1.25 against 1.00, 2.00");
}

}  // namespace
}  // namespace pibinn::study
