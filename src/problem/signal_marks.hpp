#pragma once

#include <string>
#include <string_view>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Fingerprints of a few signals of a set, evenly spread over it, by which a model knows its
/// training signals again. Zero signals are left out: every set has the same.
std::string signal_marks(ConstBatchView x);

/// Where a model keeps those of its training signals.
inline constexpr const char* kTrainSignalsKey = "pibinn.train_signals";

/// How many of the signals that the marks stand for are among the rows of x, as a share of the
/// marks; 0 where there are none.
double share_marked(std::string_view marks, ConstBatchView x);

}  // namespace pibinn
