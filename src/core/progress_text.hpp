#pragma once

#include <cstddef>
#include <string>

#include "pibinn/progress.hpp"

namespace pibinn {

/// A duration as a person says it: "35 s", "2 min", "3 h 20 min", "4 days".
std::string duration_words(double seconds);

/// A line for a log: "training  42 %  120/s  35 s left  joint  loss 0.01  test -19.62 dB".
/// `seconds` is the time since the task began.
std::string progress_text(const Progress& progress, double seconds);

/// A line for a terminal: "training [####....]  42 %  120/s  35 s left  joint  loss 0.01". It stays
/// narrower than `columns`, because some terminals break a line that fills the last one. Where room
/// is short, the rate goes first, then the detail from its end (a field that does not fit is left
/// out, never cut within a number), then the bar shrinks.
std::string progress_bar(const Progress& progress, double seconds, std::size_t columns);

/// When a task may say something again: first after `first` seconds, then every `interval`.
class ProgressPace {
public:
    ProgressPace(double first, double interval) : first_(first), interval_(interval) {}

    /// A new task has begun.
    void restart() { next_ = first_; }
    /// Whether a line is due `seconds` after the task began. If so, the next one is due an interval
    /// later.
    bool due(double seconds) {
        if (seconds < next_) return false;
        next_ = seconds + interval_;
        return true;
    }

private:
    double first_;
    double interval_;
    double next_ = first_;
};

}  // namespace pibinn
