#include "report/comparison_table.hpp"

#include "core/numbers.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kTitleWidth = 8;

}  // namespace

Table comparison_table(std::span<const ComparisonRow> rows) {
    Table table = Table::of({"method", "nmse, dB", "energy nmse, dB", "median nmse, dB",
                             kLatencyHeading, kBatchTimeHeading, "stored bits", "size"});
    for (const ComparisonRow& r : rows)
        table.add({r.method, decimal(r.metrics.nmse_db, 2), decimal(r.metrics.energy_nmse_db, 2),
                   decimal(r.metrics.median_nmse_db, 2), rounded(r.time.latency_us),
                   rounded(r.time.batch_us), grouped(r.stored_bits), bytes_of_bits(r.stored_bits)},
                  r.ours);
    return table;
}

std::string comparison_text(std::span<const ComparisonRow> rows) {
    std::string text = table_text(comparison_table(rows), kTitleWidth);
    if (!rows.empty()) text += timing_note(rows.front().time) + '\n';
    return text;
}

}  // namespace pibinn
