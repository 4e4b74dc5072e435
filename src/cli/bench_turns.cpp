#include "cli/bench_turns.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>

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

/// How often the host of a virtual machine was seen to run others while this one had work: ticks of
/// all cores so far, as Linux counts them; 0 elsewhere.
long stolen_ticks() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return stat ? steal : 0;
}

/// Work that begins each of its turns with some that does not count. After the others' turns the
/// caches hold what is theirs, and the clock of a processor may still be theirs too: it falls where
/// there is much arithmetic in wide vectors and takes a millisecond or two to rise again.
class Settled {
public:
    explicit Settled(std::function<void()> work, double settled_us = 2000)
        : work_(std::move(work)), settled_us_(settled_us) {}

    void settle() {
        // Where one run is that long, none of it makes a difference.
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

// Of several threads: the others' cores have to wake up first, and one small batch is too short to
// tell.
constexpr double kThreadsSettledUs = 4000;
constexpr double kThreadsTurnUs = 3000;

}  // namespace

Turn runs_on_each_core(std::function<void()> work, const Cores& cores, std::size_t used) {
    return [settled = Settled(std::move(work), kThreadsSettledUs), &cores,
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
    return [settled =
                Settled(std::move(work), kThreadsSettledUs)](std::vector<double>& times) mutable {
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
    return [next, state, settled = Settled(next)](std::vector<double>& times) mutable {
        constexpr double turn_us = 1000;
        constexpr std::size_t least_calls = 8;
        if (!state->slow) settled.settle();
        const std::size_t first = state->count;
        const auto start = Clock::now();
        // The end of a call is the start of the next: one look at the clock for each.
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
    return [settled = Settled(std::move(work))](std::vector<double>& times) mutable {
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

std::vector<Times> take_turns(double seconds, std::span<const Turn> turns) {
    constexpr std::size_t least_rounds = 3;
    constexpr double patience = 3;  // times `seconds`, for rounds that count
    struct Round {
        std::vector<std::vector<double>> taken;
        bool disturbed;
    };
    std::vector<double> warm_up;
    for (const Turn& turn : turns) turn(warm_up);
    std::vector<Round> rounds;
    std::size_t quiet = 0;
    const auto start = Clock::now();
    const auto within = [&](double limit) { return microseconds_since(start) < 1e6 * limit; };
    while (rounds.size() < least_rounds || within(seconds) ||
           (quiet < least_rounds && within(patience * seconds))) {
        const long before = stolen_ticks();
        Round round;
        for (const Turn& turn : turns) turn(round.taken.emplace_back());
        round.disturbed = stolen_ticks() != before;
        quiet += round.disturbed ? 0 : 1;
        rounds.push_back(std::move(round));
    }
    std::vector<Times> times(turns.size());
    for (const Round& round : rounds)
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const std::vector<double>& taken = round.taken[i];
            times[i].all.insert(times[i].all.end(), taken.begin(), taken.end());
            if (!round.disturbed || quiet < least_rounds)
                times[i].rounds.push_back(cli::median(taken));
        }
    return times;
}

double Times::median() const { return cli::median(rounds); }

double ratio(const Times& one, const Times& other) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < one.rounds.size(); ++round)
        ratios.push_back(one.rounds[round] / other.rounds[round]);
    return median(ratios);
}

double quantile(std::vector<double> values, double share) {
    const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1));
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace pibinn::cli
