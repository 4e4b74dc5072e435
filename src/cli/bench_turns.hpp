#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace pibinn::cli {

/// Something measured: appends the microseconds of each run it makes in its turn, but for runs of
/// two milliseconds in all that it begins with.
using Turn = std::function<void(std::vector<double>&)>;

/// A turn that is one run.
Turn one_run(std::function<void()> work);
/// A turn of about a millisecond of single calls, each timed. call(i) gets 0, 1, 2 and so on. At
/// least eight of them. Calls that take longer than a turn are sure to be interrupted on a busy
/// machine: they count in time of the processor.
Turn single_calls(std::function<void(std::size_t)> call);
/// The mean of as many runs as take a millisecond, in time of the processor: for work of one
/// thread, which other programs interrupt the more often the longer it takes.
Turn processor_runs(std::function<void()> work);

/// Lets all take turns for about `seconds`, after one turn each that does not count. Other work on
/// the machine then meets all alike. Returns the times of each.
std::vector<std::vector<double>> take_turns(double seconds, std::span<const Turn> turns);

double quantile(std::vector<double> values, double share);
double median(const std::vector<double>& values);

}  // namespace pibinn::cli
