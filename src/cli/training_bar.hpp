#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "cli/console.hpp"
#include "cli/interrupt.hpp"
#include "pibinn/progress.hpp"

namespace pibinn::cli {

/// One bar for trainings side by side and one after the other. Ctrl-C stops them all.
class TrainingBar {
public:
    /// `total`: the work of every epoch of every training.
    TrainingBar(Console& console, const Interrupt& interrupt, std::uint64_t total)
        : console_(console), interrupt_(interrupt), total_(total) {}

    /// For one training, each epoch of which is so much work; `label` says which it is.
    ProgressSink sink(std::uint64_t work = 1, const std::string& label = {});

    /// A line above the bar.
    void note(std::string_view text);

    std::uint64_t done() const;
    std::uint64_t total() const { return total_; }
    bool stopped() const { return interrupt_.raised(); }

private:
    struct Part {
        std::uint64_t done = 0;
        std::uint64_t restored = 0;
    };

    mutable std::mutex mutex_;
    Console& console_;
    const Interrupt& interrupt_;
    std::uint64_t total_;
    std::deque<Part> parts_;  ///< stays in place while it grows: sinks point into it
};

}  // namespace pibinn::cli
