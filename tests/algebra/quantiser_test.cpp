#include "algebra/quantiser.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

using Scale = Quantiser::Scale;
using Runs = std::vector<std::pair<std::size_t, std::size_t>>;

Runs runs_of(Scale scale, const Structure& structure) {
    Runs runs;
    for_each_scale_run(scale, structure,
                       [&](std::size_t begin, std::size_t end) { runs.emplace_back(begin, end); });
    return runs;
}

TEST(ScaleRuns, ALayerIsOneRunUnlessEachOutputHasAScale) {
    for (const Scale scale : {Scale::none, Scale::global, Scale::layer})
        EXPECT_EQ(runs_of(scale, Structure::repeated(2, 3, 5)), (Runs{{0, 6}}));
}

TEST(ScaleRuns, ARepeatedChannelCountsOnce) {
    EXPECT_EQ(runs_of(Scale::channel, Structure::repeated(2, 3, 5)),
              (Runs{{0, 2}, {2, 4}, {4, 6}}));
}

TEST(ScaleRuns, ChannelsOfBlocksFollowEachOther) {
    const std::pair<std::size_t, std::size_t> shapes[] = {{2, 1}, {1, 2}};
    EXPECT_EQ(runs_of(Scale::channel, Structure::blocks(shapes)), (Runs{{0, 2}, {2, 3}, {3, 4}}));
}

TEST(ScaleRuns, ChannelsOfAMaskAreItsColumns) {
    const Structure mask = Structure::mask(3, 2, {0, 2, 3}, {0, 2, 1});
    EXPECT_EQ(runs_of(Scale::channel, mask), (Runs{{0, 2}, {2, 3}}));
}

TEST(NearestLevel, HalfwayGoesAwayFromZero) {
    static constexpr float levels[] = {-1, 0, 1};
    EXPECT_EQ(nearest_level(levels, 0.5F), 1);
    EXPECT_EQ(nearest_level(levels, std::nextafter(0.5F, 0.0F)), 0);
    EXPECT_EQ(nearest_level(levels, -0.5F), -1);
    EXPECT_EQ(nearest_level(levels, std::nextafter(-0.5F, 0.0F)), 0);
    EXPECT_EQ(nearest_level(levels, 7.0F), 1);
    EXPECT_EQ(nearest_level(levels, -7.0F), -1);
}

TEST(NearestLevel, ZeroCountsAsPositiveWhereNoLevelIsZero) {
    static constexpr float levels[] = {-1, -0.25F, 0.25F, 1};
    EXPECT_EQ(nearest_level(levels, 0.0F), 0.25F);
    EXPECT_EQ(nearest_level(levels, 0.7F), 1);
    EXPECT_EQ(nearest_level(levels, -0.6F), -0.25F);
}

}  // namespace
}  // namespace pibinn
