#include "bench/rounds.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pibinn::bench {
namespace {

long never() { return 0; }

/// A turn that takes no time and says what it took.
Turn told(std::vector<double> times) {
    return
        [times](std::vector<double>& into) { into.insert(into.end(), times.begin(), times.end()); };
}

TEST(Rounds, ContendersTakeTurnsAndTheFirstTurnOfEachDoesNotCount) {
    std::string order;
    double a = 0;
    const std::vector<Turn> turns{[&](std::vector<double>& times) {
                                      order += 'a';
                                      times.push_back(++a);
                                  },
                                  [&](std::vector<double>& times) {
                                      order += 'b';
                                      times.push_back(10);
                                  }};
    const auto times = run_rounds(0, turns, never);
    EXPECT_EQ(order, "abababab");  // a warm-up, and the three rounds that are the least
    EXPECT_EQ(times[0].rounds, (std::vector<double>{2, 3, 4}));
    EXPECT_EQ(times[1].rounds, (std::vector<double>{10, 10, 10}));
}

TEST(Rounds, ARoundIsTheMedianOfItsRuns) {
    const std::vector<Turn> turns{told({9, 1, 5})};
    const auto times = run_rounds(0, turns, never);
    EXPECT_EQ(times[0].median(), 5);
    EXPECT_EQ(times[0].all.size(), 9U);
}

/// Three contenders' rounds with the core taken away in the first `disturbed` of them.
std::vector<ContenderTimes> disturbed_rounds(double seconds, int disturbed) {
    int looks = 0;
    int rounds = -1;  // the warm-up
    const std::vector<Turn> turns{[&](std::vector<double>& times) {
        ++rounds;
        times.push_back(rounds <= disturbed ? 1000 : 1);
    }};
    // Two looks per round: they differ in a disturbed one.
    return run_rounds(seconds, turns, [&]() -> long {
        const int round = looks / 2 + 1;
        const bool second = looks++ % 2 == 1;
        return second && round <= disturbed ? 1 : 0;
    });
}

TEST(Rounds, DisturbedRoundsDoNotCountGivenThreeOthers) {
    const auto times = disturbed_rounds(0.05, 2);
    EXPECT_EQ(times[0].median(), 1);
    for (const double round : times[0].rounds) EXPECT_EQ(round, 1);
    // What happened is still there, for the slow end of the calls.
    EXPECT_EQ(times[0].all[0], 1000);
}

TEST(Rounds, DisturbedRoundsCountWhereThereAreNoOthers) {
    const auto times = disturbed_rounds(0, 3);
    EXPECT_EQ(times[0].rounds, (std::vector<double>{1000, 1000, 1000}));
}

TEST(TimeRatio, IsTheMedianOverRoundsWithItsRange) {
    // A good minute and a bad one: the quotient of the medians would be 3.
    const ContenderTimes ours{{}, {1, 1, 10}};
    const ContenderTimes peer{{}, {2, 3, 20}};
    const TimeRatio ratio = time_ratio(peer, ours);
    EXPECT_EQ(ratio.median, 2);
    EXPECT_EQ(ratio.least, 2);
    EXPECT_EQ(ratio.most, 3);
}

TEST(TimeRatio, TheQuotientOfTheMediansLiesInItsRange) {
    const std::vector<std::vector<double>> several{
        {1, 5, 2, 8, 3}, {7, 1, 4, 4, 9}, {2, 2, 2, 2, 2}, {9, 8, 1, 1, 5}};
    for (const auto& a : several)
        for (const auto& b : several) {
            const ContenderTimes peer{{}, a};
            const ContenderTimes ours{{}, b};
            const TimeRatio ratio = time_ratio(peer, ours);
            EXPECT_LE(ratio.least, peer.median() / ours.median());
            EXPECT_GE(ratio.most, peer.median() / ours.median());
            EXPECT_LE(ratio.least, ratio.median);
            EXPECT_GE(ratio.most, ratio.median);
        }
}

}  // namespace
}  // namespace pibinn::bench
