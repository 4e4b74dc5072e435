#include "bench/turns.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace pibinn::bench {
namespace {

TEST(Turns, SingleCallsAreTimedOneByOneAndCountUp) {
    std::vector<std::size_t> seen;
    const Turn turn = single_calls([&](std::size_t i) { seen.push_back(i); });
    std::vector<double> times;
    turn(times);
    EXPECT_GE(times.size(), 8U);
    // Calls that do not count come first, and take numbers too.
    ASSERT_GT(seen.size(), times.size());
    for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
    for (const double us : times) EXPECT_GE(us, 0);
}

TEST(Turns, ATurnOfManyRunsIsOneMean) {
    for (const auto make : {&wall_runs, &processor_runs}) {
        std::size_t runs = 0;
        const Turn turn = make([&] { ++runs; });
        std::vector<double> times;
        turn(times);
        EXPECT_EQ(times.size(), 1U);
        EXPECT_GT(runs, 1U);
        EXPECT_GE(times[0], 0);
    }
}

TEST(Turns, ProcessorTimeLeavesOutSleepAndTheWallClockDoesNot) {
    const auto work = [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        volatile double sum = 0;
        for (int i = 0; i < 200'000; ++i) sum = sum + i;
    };
    std::vector<double> wall, processor;
    wall_runs(work)(wall);
    processor_runs(work)(processor);
    EXPECT_GE(wall[0], 2000);
    EXPECT_LT(processor[0], wall[0]);
}

TEST(Cores, AThreadReturnsToAllItsCores) {
    const Cores cores;
    ASSERT_GE(cores.count(), 1U);
    cores.stay_on(0);
    const Cores pinned;
    EXPECT_EQ(pinned.count(), 1U);
    cores.go_back();
    EXPECT_EQ(Cores().count(), cores.count());
}

}  // namespace
}  // namespace pibinn::bench
