#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cli/bench_cores.hpp"

namespace pibinn::cli {

/// Something measured: appends the microseconds of each run it makes in its turn, but for those
/// that it begins with: two milliseconds of them, four by the wall clock.
using Turn = std::function<void(std::vector<double>&)>;

/// The mean of as many runs as take three milliseconds by the wall clock: for work of several
/// threads, or that may have some.
Turn wall_runs(std::function<void()> work);
/// The same on each of the first `used` cores alone, as far as there are so many, at the mean of
/// their speeds: cores of a shared machine differ by a half and more, and which of them one thread
/// meets is chance. What several threads reach is compared with this.
Turn runs_on_each_core(std::function<void()> work, const Cores& cores, std::size_t used);
/// A turn of about a millisecond of single calls, each timed. call(i) gets 0, 1, 2 and so on. At
/// least eight of them. Calls that take longer than a turn are sure to be interrupted on a busy
/// machine: they count in time of the processor.
Turn single_calls(std::function<void(std::size_t)> call);
/// The mean of as many runs as take a millisecond, in time of the processor: for work of one
/// thread, which other programs interrupt the more often the longer it takes.
Turn processor_runs(std::function<void()> work);

/// What the runs of one took.
struct Times {
    std::vector<double> all;     ///< also in rounds that do not count
    std::vector<double> rounds;  ///< the median of every round's that counts

    double median() const;
};

/// Lets all take turns for about `seconds`, after one turn each that does not count. Other work on
/// the machine then meets all alike. Rounds in which the host of a virtual machine took a core away
/// do not count, given three others within three times `seconds`.
std::vector<Times> take_turns(double seconds, std::span<const Turn> turns);

/// How many times as long the first took: the median over rounds, in each of which both met the
/// same machine. The quotient of their medians may be one of a good minute and a bad one.
double ratio(const Times& one, const Times& other);

double quantile(std::vector<double> values, double share);
double median(const std::vector<double>& values);

}  // namespace pibinn::cli
