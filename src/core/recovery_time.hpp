#pragma once

#include <cstddef>
#include <string>

namespace pibinn {

/// The two times that reports, tables and JSON state. A table names the one it shows.
struct RecoveryTime {
    /// "latency": microseconds for one signal alone, on one thread.
    double latency_us = 0;
    /// "batch time": microseconds per signal of a batch, recovered over all threads.
    double batch_us = 0;
    std::size_t batch = 0;    ///< signals in that batch
    std::size_t threads = 0;  ///< that share it
};

/// Headings of the two times: "latency, us" and "batch time, us per signal".
extern const char* const kLatencyHeading;
extern const char* const kBatchTimeHeading;
/// What the headings mean, for a line below a table: "latency: one signal alone, one thread; batch
/// time: per signal of 1000 signals over 2 threads".
std::string timing_note(const RecoveryTime& time);

}  // namespace pibinn
