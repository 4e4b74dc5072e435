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
    struct State {
        std::size_t count = 0;
        bool slow = false;  ///< the last call took longer than a turn should
    };
    return [call = std::move(call), state = std::make_shared<State>()](std::vector<double>& times) {
        constexpr double turn_us = 1000;
        constexpr std::size_t least_calls = 8;
        const std::size_t first = state->count;
        const auto start = Clock::now();
        // The end of a call is the start of the next: one look at the clock for each.
        for (double before = 0; before < turn_us || state->count < first + least_calls;) {
            const double processor = state->slow ? processor_microseconds() : 0;
            call(state->count++);
            const double after = microseconds_since(start);
            times.push_back(state->slow ? processor_microseconds() - processor : after - before);
            state->slow = after - before > turn_us;
            before = after;
        }
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
