#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "bench/cores.hpp"

namespace pibinn::bench {

/// One contender's share of a round: it appends the microseconds of each run it makes. Every turn
/// begins with runs that do not count: two milliseconds of them, four by the wall clock.
using Turn = std::function<void(std::vector<double>&)>;

/// The mean of as many runs as take three milliseconds by the wall clock: for work on several
/// threads.
Turn wall_runs(std::function<void()> work);
/// The same on each of the first `used` cores alone, at the mean of their speeds. What several
/// threads reach is compared with this: cores of a shared machine differ by a half and more, and
/// which of them one thread gets is chance.
Turn runs_on_each_core(std::function<void()> work, const Cores& cores, std::size_t used);
/// About a millisecond of single calls, each timed, at least eight of them. call(i) gets 0, 1, 2
/// and so on. Calls longer than a turn count in processor time, since a busy machine is sure to
/// interrupt them.
Turn single_calls(std::function<void(std::size_t)> call);
/// The mean of as many runs as take a millisecond of processor time: for work on one thread, which
/// other programs interrupt the more often the longer it takes.
Turn processor_runs(std::function<void()> work);

}  // namespace pibinn::bench
