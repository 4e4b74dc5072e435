#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "core/recovery_time.hpp"
#include "core/table.hpp"
#include "pibinn/metrics.hpp"
#include "problem/site_magnitudes.hpp"

namespace pibinn {

/// One way to recover the signals of a test set, judged.
struct ComparisonRow {
    std::string method;
    Metrics metrics;
    RecoveryTime time;
    std::size_t stored_bits = 0;
    bool ours = false;
    /// Told what no method can know: neither timed nor stored, only a bound for the others.
    bool bound = false;
    std::string settings = {};  ///< what training signals chose, in words
    std::string note = {};      ///< what the row is, in a sentence, where its name does not say
    /// Where it matters who is active: at the threshold that balances misses and false alarms.
    std::optional<ActivityErrors> activity = {};
};

/// The rows as the terminal and the page show them.
Table comparison_table(std::span<const ComparisonRow> rows);
/// The notes of the rows, one after the other.
std::string row_notes(std::span<const ComparisonRow> rows);
/// Who was judged by fewer test signals than the others, in a sentence; empty where nobody was.
std::string fewer_signals_note(std::span<const ComparisonRow> rows);
/// What the training signals chose for each method, in a sentence.
std::string settings_note(std::span<const ComparisonRow> rows);
/// What the errors of activity mean, in a sentence; empty where there are none.
std::string activity_note(std::span<const ComparisonRow> rows);
/// What the times of the rows mean, without a full stop.
std::string times_note(std::span<const ComparisonRow> rows);
/// The table for a terminal, and below it what the times mean.
std::string comparison_text(std::span<const ComparisonRow> rows);

}  // namespace pibinn
