// room: core
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace pibinn {

/// One step of a long task, as told to whoever listens. The library itself never prints.
struct Progress {
    std::string_view task;    ///< what is being done, a word or two
    std::uint64_t done = 0;   ///< steps finished
    std::uint64_t total = 0;  ///< steps in all; 0 when unknown
    std::string_view detail;  ///< what a person may like to see beside the bar
    std::uint64_t restored =
        0;  ///< of the finished steps, those of an earlier run: no part of the rate
    /// A line that a person should read once, such as files that were skipped. Empty for none.
    std::string_view note = {};
};

/// Answers whether to go on: false asks the task to stop at the next safe point.
using ProgressSink = std::function<bool(const Progress&)>;

}  // namespace pibinn
