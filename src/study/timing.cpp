#include "study/timing.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pibinn/error.hpp"

namespace pibinn::study {

namespace {

using Clock = std::chrono::steady_clock;

// Enough that a processor does not learn the branches of one signal by heart.
constexpr std::size_t kLatencyRows = 64;

double microseconds_between(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double, std::micro>(to - from).count();
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    if (values.empty()) fail_usage("a quantile of no values", "measure something first");
    if (!(share >= 0 && share <= 1))
        fail_usage(fmt::format("a quantile at {}", share), "give a share between 0 and 1");
    const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + rank, values.end());
    return values[static_cast<std::size_t>(rank)];
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

Timing time_calls(const std::function<void(std::size_t)>& call, const TimingBudget& budget) {
    std::vector<double> taken;
    std::size_t calls = 0;
    auto before = Clock::now();
    // The end of a call is the start of the next: one look at the clock per call.
    const auto timed = [&] {
        call(calls++);
        const auto after = Clock::now();
        const double us = microseconds_between(before, after);
        before = after;
        return us;
    };
    const double first = timed();
    if (budget.seconds > 0 && first > 1e6 * std::max(budget.seconds, budget.warm_up_seconds)) {
        taken.push_back(first);
    } else {
        for (double total = first; total < 1e6 * budget.warm_up_seconds;) total += timed();
        for (double total = 0; taken.size() < std::max<std::size_t>(1, budget.least_calls) ||
                               total < 1e6 * budget.seconds;) {
            taken.push_back(timed());
            total += taken.back();
        }
    }
    return {median(taken), quantile(taken, 0), quantile(taken, 1), taken.size()};
}

RecoveryTime time_recovery(const RecoverFunction& recover, ConstBatchView y, ThreadPool& pool,
                           const TimingBudget& budget) {
    if (y.rows == 0) fail_usage("no measurements to time a recovery with", "give at least one row");
    ThreadPool one(1);
    const std::size_t rows = std::min(kLatencyRows, y.rows);
    RecoveryTime time;
    time.batch = y.rows;
    time.threads = pool.threads();
    time.latency_us =
        time_calls([&](std::size_t i) { recover(y.row_range(i % rows, i % rows + 1), one); },
                   budget)
            .median_us;
    time.batch_us = time_calls([&](std::size_t) { recover(y, pool); }, budget).median_us /
                    static_cast<double>(y.rows);
    return time;
}

RecoveryTime time_recovery(const Recoverer& recoverer, ConstBatchView y, ThreadPool& pool,
                           const TimingBudget& budget) {
    return time_recovery(
        [&](ConstBatchView rows, ThreadPool& threads) { recoverer(rows, threads); }, y, pool,
        budget);
}

nlohmann::ordered_json timing_json(const RecoveryTime& time) {
    return {{"latency_us", time.latency_us},
            {"batch_us", time.batch_us},
            {"batch", time.batch},
            {"threads", time.threads}};
}

}  // namespace pibinn::study
