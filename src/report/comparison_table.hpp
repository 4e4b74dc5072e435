#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/recovery_time.hpp"
#include "core/table.hpp"
#include "pibinn/metrics.hpp"

namespace pibinn {

/// One way to recover the signals of a test set, judged.
struct ComparisonRow {
    std::string method;
    Metrics metrics;
    RecoveryTime time;
    std::size_t stored_bits = 0;
    bool ours = false;
};

/// The rows as the terminal and the page show them.
Table comparison_table(std::span<const ComparisonRow> rows);
/// The table for a terminal, and below it what the times mean.
std::string comparison_text(std::span<const ComparisonRow> rows);

}  // namespace pibinn
