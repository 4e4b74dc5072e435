#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bench/turns.hpp"

namespace pibinn::bench {

/// What the runs of one contender took, in microseconds.
struct ContenderTimes {
    std::vector<double> all;     ///< also in rounds that do not count
    std::vector<double> rounds;  ///< the median of every round that counts

    double median() const;
};

/// The number of times that the host of a virtual machine was seen to run others while this one had
/// work: ticks of all cores so far, as Linux counts them; 0 elsewhere.
long stolen_ticks();

/// Lets all contenders take turns for about `seconds`, after one turn each that does not count, so
/// that other work on the machine meets all alike. A round in which `stolen` rises does not count,
/// given three others within three times `seconds`.
std::vector<ContenderTimes> run_rounds(double seconds, std::span<const Turn> turns,
                                       const std::function<long()>& stolen = stolen_ticks);

/// How many times as long one contender took.
struct TimeRatio {
    double median = 0;  ///< over rounds, in each of which both met the same machine
    double least = 0;   ///< the lowest and the highest round; the quotient of the two medians
    double most = 0;    ///< always lies between them
};

TimeRatio time_ratio(const ContenderTimes& peer, const ContenderTimes& ours);

}  // namespace pibinn::bench
