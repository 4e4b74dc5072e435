#include "core/recovery_time.hpp"

#include <fmt/format.h>

namespace pibinn {

const char* const kLatencyHeading = "latency, us";
const char* const kBatchTimeHeading = "batch time, us per signal";

std::string timing_note(const RecoveryTime& time) {
    return fmt::format(
        "latency: one signal alone, one thread; batch time: per signal of {} signal{} over {} "
        "thread{}",
        time.batch, time.batch == 1 ? "" : "s", time.threads, time.threads == 1 ? "" : "s");
}

}  // namespace pibinn
