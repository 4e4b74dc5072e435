#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace pibinn {

/// The entries of a sparse signal that count: those above a hundredth of its largest. A floor of
/// rounding or recording noise is not among them.
inline void present_entries(std::span<const float> signal, std::vector<std::size_t>& present) {
    float largest = 0;
    for (const float v : signal) largest = std::max(largest, std::abs(v));
    present.clear();
    for (std::size_t j = 0; j < signal.size(); ++j)
        if (std::abs(signal[j]) > 0.01F * largest) present.push_back(j);
}

}  // namespace pibinn
