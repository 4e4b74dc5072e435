#include "bench/rounds.hpp"

#include <chrono>
#include <fstream>
#include <string>

#include "pibinn/error.hpp"
#include "study/timing.hpp"

namespace pibinn::bench {

namespace {

constexpr std::size_t kLeastRounds = 3;
constexpr double kPatience = 3;  // times `seconds`, for rounds that count

struct Round {
    std::vector<std::vector<double>> taken;  ///< per contender
    bool disturbed = false;
};

}  // namespace

double ContenderTimes::median() const { return study::median(rounds); }

long stolen_ticks() {
    std::ifstream stat("/proc/stat");
    std::string cpu;
    long user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    return stat ? steal : 0;
}

std::vector<ContenderTimes> run_rounds(double seconds, std::span<const Turn> turns,
                                       const std::function<long()>& stolen) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> warm_up;
    for (const Turn& turn : turns) turn(warm_up);
    std::vector<Round> rounds;
    std::size_t quiet = 0;
    const auto start = Clock::now();
    const auto within = [&](double limit) {
        return std::chrono::duration<double>(Clock::now() - start).count() < limit;
    };
    while (rounds.size() < kLeastRounds || within(seconds) ||
           (quiet < kLeastRounds && within(kPatience * seconds))) {
        const long before = stolen();
        Round round;
        for (const Turn& turn : turns) turn(round.taken.emplace_back());
        round.disturbed = stolen() != before;
        quiet += round.disturbed ? 0 : 1;
        rounds.push_back(std::move(round));
    }
    std::vector<ContenderTimes> times(turns.size());
    for (const Round& round : rounds)
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const std::vector<double>& taken = round.taken[i];
            times[i].all.insert(times[i].all.end(), taken.begin(), taken.end());
            if (!round.disturbed || quiet < kLeastRounds)
                times[i].rounds.push_back(study::median(taken));
        }
    return times;
}

TimeRatio time_ratio(const ContenderTimes& peer, const ContenderTimes& ours) {
    ensure(peer.rounds.size() == ours.rounds.size(), "contenders of one matchup share its rounds");
    std::vector<double> ratios;
    for (std::size_t round = 0; round < peer.rounds.size(); ++round)
        ratios.push_back(peer.rounds[round] / ours.rounds[round]);
    return {study::median(ratios), study::quantile(ratios, 0), study::quantile(ratios, 1)};
}

}  // namespace pibinn::bench
