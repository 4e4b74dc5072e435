#include "report/comparison_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/numbers.hpp"

namespace pibinn {

namespace {

bool tells_activity(std::span<const ComparisonRow> rows) {
    return std::any_of(rows.begin(), rows.end(),
                       [](const ComparisonRow& r) { return r.activity.has_value(); });
}

std::string percent(double share) { return decimal(100 * share, 2); }

}  // namespace

Table comparison_table(std::span<const ComparisonRow> rows) {
    const bool activity = tells_activity(rows);
    std::vector<std::string> headings{"method", "nmse, dB", "energy nmse, dB", "median nmse, dB"};
    if (activity) headings.insert(headings.end(), {"missed, %", "false alarms, %"});
    headings.insert(headings.end(), {kLatencyHeading, kBatchTimeHeading, "stored bits", "size"});
    Table table = Table::of(headings);
    for (const ComparisonRow& r : rows) {
        std::vector<std::string> cells{r.method, decimal(r.metrics.nmse_db, 2),
                                       decimal(r.metrics.energy_nmse_db, 2),
                                       decimal(r.metrics.median_nmse_db, 2)};
        if (activity) {
            cells.push_back(r.activity ? percent(r.activity->missed) : kNone);
            cells.push_back(r.activity ? percent(r.activity->false_alarms) : kNone);
        }
        for (const std::string& cell : {rounded(r.time.latency_us), rounded(r.time.batch_us),
                                        grouped(r.stored_bits), bytes_of_bits(r.stored_bits)})
            cells.push_back(r.bound ? kNone : cell);
        table.add(std::move(cells), r.ours);
    }
    return table;
}

std::string activity_note(std::span<const ComparisonRow> rows) {
    if (!tells_activity(rows)) return {};
    return "Missed are the active users whose recovered magnitude is below a threshold, false "
           "alarms the silent ones that reach it; each method has the threshold at which the "
           "greater of the two shares is least.";
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
    if (const std::string note = activity_note(rows); !note.empty()) text += note + '\n';
    if (const std::string note = times_note(rows); !note.empty()) text += note + '\n';
    return text;
}

}  // namespace pibinn
