#include "bench/matchup.hpp"

#include <gtest/gtest.h>

namespace pibinn::bench {
namespace {

Turn always(std::vector<double> times) {
    return
        [times](std::vector<double>& into) { into.insert(into.end(), times.begin(), times.end()); };
}

BenchResult described() {
    BenchResult result;
    result.name = "throughput";
    result.m = 50;
    result.update = "plain";
    return result;
}

TEST(Matchup, GivesOneResultPerPeerWithTheSameCase) {
    Matchup matchup(described(), always({10}));
    matchup.add_peer("slow", 1e-6, always({40}));
    matchup.add_peer("quick", std::nullopt, always({5}));
    const auto results = matchup.run(0, {});
    ASSERT_EQ(results.size(), 2U);
    for (const BenchResult& r : results) {
        EXPECT_EQ(r.m, 50U);
        EXPECT_EQ(r.ours_us, 10);
        ASSERT_TRUE(r.peer.has_value());
    }
    EXPECT_EQ(results[0].peer->name, "slow");
    EXPECT_EQ(results[0].peer->us, 40);
    EXPECT_EQ(results[0].peer->ratio.median, 4);
    EXPECT_EQ(results[0].peer->error, 1e-6);
    EXPECT_EQ(results[1].peer->name, "quick");
    EXPECT_EQ(results[1].peer->ratio.median, 0.5);
    EXPECT_FALSE(results[1].peer->error.has_value());
}

TEST(Matchup, WithoutAPeerTellsOursAlone) {
    const auto results = Matchup(described(), always({10})).run(0, {});
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].ours_us, 10);
    EXPECT_FALSE(results[0].peer.has_value());
}

TEST(Matchup, DividesTimesByTheSignalsOfARunAndLeavesRatios) {
    Matchup matchup(described(), always({10}));
    matchup.add_peer("peer", std::nullopt, always({30}));
    const auto results = matchup.run(0, {5, false});
    EXPECT_EQ(results[0].ours_us, 2);
    EXPECT_EQ(results[0].peer->us, 6);
    EXPECT_EQ(results[0].peer->ratio.median, 3);
    EXPECT_FALSE(results[0].ours_tail.has_value());
}

TEST(Matchup, TailsAreTheSlowEndOfAllCalls) {
    std::vector<double> calls;
    for (int i = 1; i <= 101; ++i) calls.push_back(i);
    Matchup matchup(described(), always(calls));
    matchup.add_peer("peer", std::nullopt, always({7}));
    const auto results = matchup.run(0, {1, true});
    EXPECT_EQ(results[0].ours_us, 51);
    EXPECT_EQ(results[0].ours_tail->p99, 100);
    EXPECT_EQ(results[0].ours_tail->max, 101);
    EXPECT_EQ(results[0].peer->tail->max, 7);
}

}  // namespace
}  // namespace pibinn::bench
