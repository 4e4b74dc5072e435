#include "bench/turns.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

namespace pibinn::bench {

namespace {

using Clock = std::chrono::steady_clock;

// Threads on other cores have to wake up first, and one small batch is too short to time.
constexpr double kThreadsSettledUs = 4000;
constexpr double kThreadsTurnUs = 3000;

double microseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Of this thread.
double processor_microseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

/// Work that begins each turn with runs that do not count. After the turns of others the caches
/// hold their data, and the clock of the processor may still be low: it falls under much arithmetic
/// in wide vectors and takes a millisecond or two to rise again.
class SettledWork {
public:
    explicit SettledWork(std::function<void()> work, double settled_us = 2000)
        : work_(std::move(work)), settled_us_(settled_us) {}

    void settle() {
        // One run of that length settles by itself.
        if (last_us_ > 50 * settled_us_) return;
        run_for(settled_us_);
    }

    /// Microseconds of one run.
    double run() {
        const auto start = Clock::now();
        work_();
        return last_us_ = microseconds_since(start);
    }

    /// The mean of as many runs as take so long.
    double run_for(double us) {
        const auto start = Clock::now();
        int runs = 0;
        double taken = 0;
        for (; runs == 0 || taken < us; ++runs) {
            run();
            taken = microseconds_since(start);
        }
        return taken / runs;
    }

private:
    std::function<void()> work_;
    double settled_us_;
    double last_us_ = 0;
};

}  // namespace

Turn runs_on_each_core(std::function<void()> work, const Cores& cores, std::size_t used) {
    return [settled = SettledWork(std::move(work), kThreadsSettledUs), &cores,
            each = std::min(used, cores.count())](std::vector<double>& times) mutable {
        double speed = 0;
        for (std::size_t core = 0; core < each; ++core) {
            cores.stay_on(core);
            settled.settle();
            speed += 1 / settled.run_for(kThreadsTurnUs);
        }
        cores.go_back();
        times.push_back(static_cast<double>(each) / speed);
    };
}

Turn wall_runs(std::function<void()> work) {
    return [settled = SettledWork(std::move(work), kThreadsSettledUs)](
               std::vector<double>& times) mutable {
        settled.settle();
        times.push_back(settled.run_for(kThreadsTurnUs));
    };
}

Turn single_calls(std::function<void(std::size_t)> call) {
    struct State {
        std::size_t count = 0;
        bool slow = false;  ///< the last call took longer than a turn should
    };
    const auto state = std::make_shared<State>();
    const auto next = [call = std::move(call), state] { call(state->count++); };
    return [next, state, settled = SettledWork(next)](std::vector<double>& times) mutable {
        constexpr double turn_us = 1000;
        constexpr std::size_t least_calls = 8;
        if (!state->slow) settled.settle();
        const std::size_t first = state->count;
        const auto start = Clock::now();
        // The end of a call is the start of the next: one look at the clock per call.
        for (double before = 0; before < turn_us || state->count < first + least_calls;) {
            const double processor = state->slow ? processor_microseconds() : 0;
            next();
            const double after = microseconds_since(start);
            times.push_back(state->slow ? processor_microseconds() - processor : after - before);
            state->slow = after - before > turn_us;
            before = after;
        }
    };
}

Turn processor_runs(std::function<void()> work) {
    return [settled = SettledWork(std::move(work))](std::vector<double>& times) mutable {
        constexpr double turn_us = 1000;
        settled.settle();
        const double start = processor_microseconds();
        double taken = 0;
        int runs = 0;
        for (; taken < turn_us; ++runs) {
            settled.run();
            taken = processor_microseconds() - start;
        }
        times.push_back(taken / runs);
    };
}

}  // namespace pibinn::bench
