#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "pibinn/progress.hpp"

namespace pibinn::study {

/// One progress for trainings side by side and one after the other. Once the listener asks to stop,
/// all of them stop.
class TrainingProgress {
public:
    /// `total`: the work of every epoch of every training. `listener` may be empty.
    TrainingProgress(ProgressSink listener, std::uint64_t total)
        : listener_(std::move(listener)), total_(total) {}

    /// For one training, each epoch of which is `work`; `label` says which training it is.
    ProgressSink sink(std::uint64_t work = 1, const std::string& label = {});

    /// Passes a line for a person on; an empty text is none.
    void note(std::string_view text);

    std::uint64_t done() const;
    std::uint64_t total() const { return total_; }
    bool stopped() const;
    void stop();  ///< as if the listener had asked for it

private:
    struct Share {
        std::uint64_t done = 0;
        std::uint64_t restored = 0;
    };

    mutable std::mutex mutex_;
    ProgressSink listener_;
    std::uint64_t total_;
    bool stopped_ = false;
    std::deque<Share> shares_;  ///< stays in place while it grows: sinks point into it
};

}  // namespace pibinn::study
