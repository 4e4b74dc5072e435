#include "study/hint_keys.hpp"

#include <gtest/gtest.h>

namespace pibinn::study {
namespace {

TEST(FieldKeys, FieldsBecomeTheKeysOfAConfiguration) {
    EXPECT_EQ(with_keys("raise PatchSpec::per_image, or lower PatchSpec::train"),
              "raise problem.patches, or lower problem.train");
    EXPECT_EQ(with_keys("set SignalDomain::normalize = Normalize::none"),
              "set problem.normalize = \"none\"");
}

TEST(FieldKeys, AFieldWhoseNameStartsWithAnothersKeepsItsOwnKey) {
    EXPECT_EQ(with_keys("SegmentSpec::clean_ids SegmentSpec::clean"), "problem.ids problem.x");
}

TEST(FieldKeys, OtherTextStays) {
    EXPECT_EQ(with_keys(""), "");
    EXPECT_EQ(with_keys("'a::b' PatchSpec side"), "'a::b' PatchSpec side");
}

}  // namespace
}  // namespace pibinn::study
