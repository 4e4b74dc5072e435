#pragma once

#include <span>
#include <vector>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// The magnitude at each place of a vector: of a complex entry, and over all vectors of the row.
std::vector<float> site_magnitudes(const RowLayout& layout, std::span<const float> row);

/// How often users are taken for silent that send, and the other way round. A user counts as active
/// where the magnitude of what was recovered is at least the threshold.
struct ActivityErrors {
    double missed = 0;        ///< share of the active users
    double false_alarms = 0;  ///< share of the silent users
    double threshold = 0;
};

/// At the one threshold for all rows that balances both: the greater of the two shares is least.
ActivityErrors activity_errors(const RowLayout& layout, ConstBatchView truth,
                               ConstBatchView estimate);

}  // namespace pibinn
