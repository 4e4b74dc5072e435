#include "report/comparison_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/numbers.hpp"

namespace pibinn {

Table comparison_table(std::span<const ComparisonRow> rows) {
    Table table = Table::of({"method", "nmse, dB", "energy nmse, dB", "median nmse, dB",
                             kLatencyHeading, kBatchTimeHeading, "stored bits", "size"});
    for (const ComparisonRow& r : rows)
        table.add(
            {r.method, decimal(r.metrics.nmse_db, 2), decimal(r.metrics.energy_nmse_db, 2),
             decimal(r.metrics.median_nmse_db, 2), r.bound ? kNone : rounded(r.time.latency_us),
             r.bound ? kNone : rounded(r.time.batch_us), r.bound ? kNone : grouped(r.stored_bits),
             r.bound ? kNone : bytes_of_bits(r.stored_bits)},
            r.ours);
    return table;
}

std::string row_notes(std::span<const ComparisonRow> rows) {
    std::string text;
    for (const ComparisonRow& r : rows)
        if (!r.note.empty()) text += (text.empty() ? "" : " ") + r.note;
    return text;
}

std::string fewer_signals_note(std::span<const ComparisonRow> rows) {
    std::size_t most = 0;
    for (const ComparisonRow& r : rows) most = std::max(most, r.metrics.signals);
    std::string names;
    for (const ComparisonRow& r : rows)
        if (r.metrics.signals < most)
            names += fmt::format("{}{} ({})", names.empty() ? "" : "; ", r.method,
                                 grouped(r.metrics.signals));
    if (names.empty()) return {};
    return fmt::format("To save time, judged by the first of the {} test signals only: {}.",
                       grouped(most), names);
}

std::string settings_note(std::span<const ComparisonRow> rows) {
    std::string text;
    for (const ComparisonRow& r : rows)
        if (!r.settings.empty())
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", r.method, r.settings);
    if (text.empty()) return {};
    return fmt::format("Chosen on training signals: {}.", text);
}

std::string times_note(std::span<const ComparisonRow> rows) {
    const RecoveryTime* widest = nullptr;
    for (const ComparisonRow& r : rows)
        if (!r.bound && (widest == nullptr || r.time.batch > widest->batch)) widest = &r.time;
    return widest == nullptr ? "" : timing_note(*widest);
}

std::string comparison_text(std::span<const ComparisonRow> rows) {
    std::string text = table_text(comparison_table(rows), kTitleWidth);
    if (const std::string note = fewer_signals_note(rows); !note.empty()) text += note + '\n';
    if (const std::string note = times_note(rows); !note.empty()) text += note + '\n';
    return text;
}

}  // namespace pibinn
