#include "study/timing.hpp"

#include <chrono>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"

namespace pibinn::study {
namespace {

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Quantile, TakesTheValueAtItsRank) {
    const std::vector<double> values{5, 1, 4, 2, 3};
    EXPECT_EQ(quantile(values, 0), 1);
    EXPECT_EQ(quantile(values, 0.5), 3);
    EXPECT_EQ(quantile(values, 0.99), 4);
    EXPECT_EQ(quantile(values, 1), 5);
}

TEST(Quantile, OfAnEvenCountTheMedianIsTheLowerOfTheMiddleTwo) {
    EXPECT_EQ(median({40, 10, 30, 20}), 20);
    EXPECT_EQ(median({7}), 7);
}

TEST(Quantile, RefusesNoValuesAndSharesOutsideTheUnitInterval) {
    EXPECT_THROW(median({}), Error);
    EXPECT_THROW(quantile({1, 2}, 1.5), Error);
    EXPECT_THROW(quantile({1, 2}, -0.1), Error);
}

TEST(TimeCalls, CountsTheCallsUpAndLeavesTheWarmUpOut) {
    std::vector<std::size_t> seen;
    const Timing timing = time_calls([&](std::size_t i) { seen.push_back(i); }, {0, 0, 5});
    ASSERT_EQ(seen.size(), 6U);  // one to warm up, five that count
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], i);
    EXPECT_EQ(timing.calls, 5U);
    EXPECT_LE(timing.least_us, timing.median_us);
    EXPECT_LE(timing.median_us, timing.most_us);
}

TEST(TimeCalls, ASlowFirstCallIsNotPartOfTheResult) {
    const Timing timing =
        time_calls([](std::size_t i) { sleep_ms(i == 0 ? 60 : 0); }, {0.1, 0.002, 3});
    EXPECT_LT(timing.median_us, 60e3);
    EXPECT_LT(timing.least_us, 60e3);
}

TEST(TimeCalls, ACallLongerThanTheBudgetIsMadeOnce) {
    std::size_t calls = 0;
    const Timing timing = time_calls(
        [&](std::size_t) {
            ++calls;
            sleep_ms(20);
        },
        {0.001, 0.001, 3});
    EXPECT_EQ(calls, 1U);
    EXPECT_EQ(timing.calls, 1U);
    EXPECT_GE(timing.median_us, 20e3);
}

TEST(TimeRecovery, LatencyMeetsOneRowOnOneThreadAndTheBatchAllRowsOnAll) {
    const Batch y(3, 4);
    ThreadPool pool(2);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::set<const float*> rows;
    const RecoveryTime time = time_recovery(
        [&](ConstBatchView part, ThreadPool& threads) {
            seen.insert({part.rows, threads.threads()});
            if (part.rows == 1) rows.insert(part.data);
        },
        y, pool, {0.0, 0.0, 8});
    EXPECT_EQ(seen, (std::set<std::pair<std::size_t, std::size_t>>{{1, 1}, {3, 2}}));
    EXPECT_EQ(rows.size(), 3U);
    EXPECT_EQ(time.batch, 3U);
    EXPECT_EQ(time.threads, 2U);
}

TEST(TimeRecovery, BatchTimeIsPerSignalAndLatencyPerCall) {
    const Batch y(10, 4);
    ThreadPool pool(1);
    const RecoveryTime time =
        time_recovery([](ConstBatchView, ThreadPool&) { sleep_ms(5); }, y, pool, {0.001, 0.001, 1});
    EXPECT_GE(time.latency_us, 5000);
    EXPECT_GE(time.batch_us, 500);
    // The same sleep is shared by ten signals.
    EXPECT_LT(time.batch_us, time.latency_us);
}

TEST(TimeRecovery, RunsTheModelItIsGiven) {
    NetworkSpec spec;
    spec.layers = 2;
    const Recoverer recoverer(untrained_model(
        spec, Operator::random(Structure::dense(4, 8), OperatorEnsemble::gaussian, 1), 0.1));
    ThreadPool pool(1);
    const RecoveryTime time = time_recovery(recoverer, Batch(5, 4), pool, {0, 0, 2});
    EXPECT_GT(time.latency_us, 0);
    EXPECT_GT(time.batch_us, 0);
    EXPECT_THROW(time_recovery(recoverer, Batch(5, 3), pool, {0, 0, 2}), Error);
}

TEST(TimeRecovery, RefusesABatchWithoutRows) {
    ThreadPool pool(1);
    EXPECT_THROW(time_recovery([](ConstBatchView, ThreadPool&) {}, Batch(0, 4), pool), Error);
}

TEST(TimingText, StatesBatchAndThreads) {
    const RecoveryTime time{1.5, 0.25, 1000, 2};
    EXPECT_EQ(
        timing_note(time),
        "latency: one signal alone, one thread; batch time: per signal of 1000 signals over 2 "
        "threads");
    EXPECT_EQ(timing_json(time).dump(),
              R"({"latency_us":1.5,"batch_us":0.25,"batch":1000,"threads":2})");
}

}  // namespace
}  // namespace pibinn::study
