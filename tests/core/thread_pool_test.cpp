#include "pibinn/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace pibinn {
namespace {

TEST(ThreadPool, RunsEveryIndexOnce) {
    for (std::size_t threads : {1u, 2u, 5u}) {
        ThreadPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
        for (std::size_t count : {0u, 1u, 2u, 1000u}) {
            std::vector<std::atomic<int>> calls(count);
            pool.run(count, [&](std::size_t i) { ++calls[i]; });
            for (auto& c : calls) EXPECT_EQ(c, 1);
        }
    }
}

TEST(ThreadPool, LeavesNoTaskToAThreadThatIsBusy) {
    ThreadPool pool(2);
    std::atomic<int> others{0};
    // Whoever has the first task ends it last: all others are the other thread's then.
    pool.run(100, [&](std::size_t i) {
        if (i != 0)
            ++others;
        else
            while (others < 99) std::this_thread::yield();
    });
    EXPECT_EQ(others, 99);
}

TEST(ThreadPool, TellsATaskWhichWorkerRunsIt) {
    EXPECT_EQ(ThreadPool::worker(), 0U);
    ThreadPool pool(2);
    const auto caller = std::this_thread::get_id();
    std::atomic<int> begun{0};
    std::atomic<int> wrong{0};
    pool.run(2, [&](std::size_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();  // so each of the two has one
        const bool is_caller = std::this_thread::get_id() == caller;
        if (ThreadPool::worker() != (is_caller ? 0U : 1U)) ++wrong;
    });
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(ThreadPool::worker(), 0U);
}

TEST(ThreadPool, ZeroThreadsMeansOnePerCore) {
    EXPECT_EQ(ThreadPool(0).threads(), std::max(1u, std::thread::hardware_concurrency()));
}

TEST(ThreadPool, ChunksCoverTheRangeAndDependOnTheWorkAlone) {
    for (std::size_t threads : {1u, 3u}) {
        ThreadPool pool(threads);
        std::mutex mutex;
        std::set<std::tuple<std::size_t, std::size_t, std::size_t>> chunks;
        pool.run_chunks(10, 4, [&](std::size_t c, std::size_t begin, std::size_t end) {
            std::lock_guard lock(mutex);
            chunks.insert({c, begin, end});
        });
        EXPECT_EQ(chunks, (decltype(chunks){{0, 0, 4}, {1, 4, 8}, {2, 8, 10}}));
    }
}

TEST(ThreadPool, ThrowsTheExceptionOfATaskAndWorksOn) {
    for (std::size_t threads : {1u, 3u}) {
        ThreadPool pool(threads);
        for (int round = 0; round < 20; ++round) {
            try {
                pool.run(100, [](std::size_t i) {
                    if (i == 37) throw std::runtime_error("task 37");
                });
                FAIL() << "no exception";
            } catch (const std::runtime_error& e) {
                EXPECT_EQ(std::string(e.what()), "task 37");
            }
            std::atomic<int> calls{0};
            pool.run(100, [&](std::size_t) { ++calls; });
            EXPECT_EQ(calls, 100);
        }
    }
}

TEST(ThreadPool, NestedRunsStayOnTheirThread) {
    ThreadPool pool(3);
    std::atomic<int> calls{0};
    std::atomic<int> strangers{0};
    pool.run(8, [&](std::size_t) {
        const auto here = std::this_thread::get_id();
        pool.run(8, [&](std::size_t) {
            ++calls;
            if (std::this_thread::get_id() != here) ++strangers;
        });
    });
    EXPECT_EQ(calls, 64);
    EXPECT_EQ(strangers, 0);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
    ThreadPool pool(2);
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round) pool.run(10, [&](std::size_t) { ++calls; });
        });
    for (auto& caller : callers) caller.join();
    EXPECT_EQ(calls, 2000);
}

TEST(ThreadPool, SumsAreTheSameBytesForAnyNumberOfThreads) {
    const auto partial = [](std::size_t begin, std::size_t end) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i) sum += 1.0 / (1.0 + static_cast<double>(i));
        return sum;
    };
    ThreadPool one(1);
    const double sum = one.sum_chunks(10007, 100, partial);
    EXPECT_NEAR(sum, partial(0, 10007), 1e-12);
    EXPECT_EQ(one.sum_chunks(0, 100, partial), 0.0);
    for (std::size_t threads : {2u, 3u, 7u})
        EXPECT_EQ(ThreadPool(threads).sum_chunks(10007, 100, partial), sum);
}

}  // namespace
}  // namespace pibinn
