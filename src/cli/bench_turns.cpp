#include "cli/bench_turns.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

namespace pibinn::cli {

namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Of this thread.
double processor_microseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Turn one_run(std::function<void()> work) {
    return [work = std::move(work)](std::vector<double>& times) {
        const auto start = Clock::now();
        work();
        times.push_back(microseconds_since(start));
    };
}

Turn single_calls(std::function<void(std::size_t)> call) {
    return [call = std::move(call),
            count = std::make_shared<std::size_t>(0)](std::vector<double>& times) {
        constexpr double turn_us = 1000;
        const std::size_t first = *count;
        const double processor = processor_microseconds();
        const auto start = Clock::now();
        // The end of a call is the start of the next: one look at the clock for each.
        for (double before = 0; before < turn_us;) {
            call((*count)++);
            const double after = microseconds_since(start);
            times.push_back(after - before);
            before = after;
        }
        if (*count == first + 1) times.back() = processor_microseconds() - processor;
    };
}

Turn processor_runs(std::function<void()> work) {
    return [work = std::move(work)](std::vector<double>& times) {
        constexpr double turn_us = 1000;
        const double start = processor_microseconds();
        double taken = 0;
        int runs = 0;
        for (; taken < turn_us; ++runs) {
            work();
            taken = processor_microseconds() - start;
        }
        times.push_back(taken / runs);
    };
}

std::vector<std::vector<double>> take_turns(double seconds, std::span<const Turn> turns) {
    constexpr std::size_t least_rounds = 3;
    std::vector<double> warm_up;
    for (const Turn& turn : turns) turn(warm_up);
    std::vector<std::vector<double>> times(turns.size());
    const auto start = Clock::now();
    for (std::size_t round = 0; round < least_rounds || microseconds_since(start) < 1e6 * seconds;
         ++round)
        for (std::size_t i = 0; i < turns.size(); ++i) turns[i](times[i]);
    return times;
}

double quantile(std::vector<double> values, double share) {
    const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace pibinn::cli
