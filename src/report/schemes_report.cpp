#include "report/schemes_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/pareto.hpp"

namespace pibinn {

namespace {

// What lies further than this from the networks would squeeze these together: OMP, without noise,
// is exact to rounding, and a training that diverged has no bounds.
constexpr double kRoomBelow = 20;
constexpr double kWorstShown = 5;

std::string percent(const std::optional<double>& share) {
    return share ? decimal(100 * *share, 1) : "–";
}

/// The place of a value among those seen so far, which gains it if it is new.
std::size_t place_of(std::vector<std::string>& seen, const std::string& value) {
    const auto at = std::find(seen.begin(), seen.end(), value);
    const auto place = static_cast<std::size_t>(at - seen.begin());
    if (at == seen.end()) seen.push_back(value);
    return place;
}

/// Some columns of a table, in this order.
Table part_of(const Table& table, std::initializer_list<std::size_t> columns) {
    Table part;
    for (const std::size_t c : columns) part.columns.push_back(table.columns[c]);
    for (const Table::Row& row : table.rows) {
        std::vector<std::string> cells;
        for (const std::size_t c : columns) cells.push_back(row.cells[c]);
        part.add(std::move(cells), row.highlight);
    }
    return part;
}

/// One point of the figure; one that lies off the scale stands at its border with its value.
Series point(const std::string& label, std::size_t bits, double nmse_db, double best_shown) {
    Series series{label, {static_cast<double>(bits)}, {nmse_db}, Series::Style::marks};
    if (nmse_db < best_shown || nmse_db > kWorstShown) {
        series.y[0] = std::clamp(nmse_db, best_shown, kWorstShown);
        series.label += fmt::format(" ({} dB)", decimal(nmse_db, 1));
    }
    return series;
}

const SchemeRow* find_row(const SchemesReport& report, const std::string& scheme,
                          const std::string& structure) {
    for (const SchemeRow& row : report.rows)
        if (row.scheme == scheme && row.structure == structure) return &row;
    return nullptr;
}

std::string csv_number(const std::optional<double>& value) {
    return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : "";
}

/// Nothing for a bound.
std::optional<double> timed(const ReferenceRow& row, double microseconds) {
    if (row.bound) return std::nullopt;
    return microseconds;
}

/// References that store less than some network of the front and recover better.
std::string beyond_front(const SchemesReport& report) {
    const std::vector<std::size_t> front = networks_front(report);
    std::string names;
    for (const ReferenceRow& r : report.references)
        if (!r.bound && std::any_of(front.begin(), front.end(), [&](std::size_t i) {
                return r.bits <= report.rows[i].bits.total &&
                       r.nmse_db.mean <= report.rows[i].test_nmse_db.mean;
            }))
            names += (names.empty() ? "" : "; ") + r.method;
    if (names.empty()) return "No reference beats a network of the front.";
    return fmt::format("These references beat a network of the front in both bits and nmse: {}.",
                       names);
}

}  // namespace

double SchemeRow::gap_db() const { return std::abs(train_nmse_db.mean - test_nmse_db.mean); }

std::vector<std::size_t> networks_front(const SchemesReport& report) {
    std::vector<Trade> trades;
    for (const SchemeRow& row : report.rows)
        trades.push_back({static_cast<double>(row.bits.total), row.test_nmse_db.mean});
    return pareto_front(trades);
}

Table schemes_table(const SchemesReport& report) {
    Table table;
    table.columns = {{"scheme", false},         {"structure", false},  {"train, dB", true},
                     {"test, dB", true},        {"gap, dB", true},     {"median, dB", true},
                     {"links", true},           {"bits, paper", true}, {"bits in all", true},
                     {"zeros, %", true},        {"overlap, %", true},  {kLatencyHeading, true},
                     {kBatchTimeHeading, true}, {"training, s", true}};
    for (const SchemeRow& r : report.rows)
        table.add(
            {r.scheme, r.structure, decimal(r.train_nmse_db, 2), decimal(r.test_nmse_db, 2),
             decimal(r.gap_db(), 2), decimal(r.test_median_nmse_db, 2), grouped(r.links),
             grouped(r.bits.paper), grouped(r.bits.total), percent(r.sparsity), percent(r.overlap),
             rounded(r.time.latency_us), rounded(r.time.batch_us), decimal(r.seconds, 1)},
            r.ours);
    return table;
}

Table references_table(const SchemesReport& report) {
    Table table = Table::of({"reference", "test, dB", "energy, dB", "median, dB", "bits in all",
                             kLatencyHeading, kBatchTimeHeading});
    for (const ReferenceRow& r : report.references)
        table.add({r.method, decimal(r.nmse_db, 2), decimal(r.energy_nmse_db, 2),
                   decimal(r.median_nmse_db, 2), r.bound ? "–" : grouped(r.bits),
                   r.bound ? "–" : rounded(r.time.latency_us),
                   r.bound ? "–" : rounded(r.time.batch_us)});
    return table;
}

std::string schemes_text(const SchemesReport& report) {
    std::string text = table_text(schemes_table(report), kTitleWidth);
    if (std::any_of(report.rows.begin(), report.rows.end(),
                    [](const SchemeRow& row) { return row.ours; }))
        text += "* the PIBiNN: one bit per link, one scale, the problem's own structure\n";
    text += "\n" + table_text(references_table(report), kTitleWidth);
    if (!report.references_note.empty()) text += report.references_note + "\n";
    if (!report.rows.empty()) text += timing_note(report.rows.front().time) + "\n";
    return text;
}

Figure pareto_figure(const SchemesReport& report) {
    Figure figure{"Test error against size", {}, beyond_front(report)};
    Plot& plot = figure.plot;
    plot.width = 900;
    // The legend stays in one column as long as it fits the height.
    plot.height = 120 + 22 * (1 + report.rows.size() + report.references.size());
    plot.legend_beside = true;
    plot.x = {"stored bits in all", Axis::Scale::log, {}, {}, false};
    plot.y.label = "test nmse (dB)";
    Series front{"front of the networks", {}, {}, Series::Style::line, kGrey};
    double best_shown = 0;
    for (const std::size_t i : networks_front(report)) {
        front.x.push_back(static_cast<double>(report.rows[i].bits.total));
        front.y.push_back(std::min(report.rows[i].test_nmse_db.mean, kWorstShown));
        best_shown = std::min(best_shown, report.rows[i].test_nmse_db.mean - kRoomBelow);
    }
    plot.series.push_back(std::move(front));
    std::vector<std::string> schemes;
    std::vector<std::string> structures;
    for (const SchemeRow& row : report.rows) {
        Series series = point(fmt::format("{}, {}", row.scheme, row.structure), row.bits.total,
                              row.test_nmse_db.mean, best_shown);
        series.color = place_of(structures, row.structure);
        // The fully connected networks take up the first marks again, in a colour of their own.
        const bool connected = row.scheme.starts_with("fcn");
        series.mark =
            connected ? (row.scheme == "fcn-relu" ? 0 : 1) : place_of(schemes, row.scheme);
        if (connected) series.color = kGrey - 2;
        plot.series.push_back(std::move(series));
    }
    std::size_t mark = kFirstReferenceMark;
    for (const ReferenceRow& row : report.references) {
        if (row.bound) continue;
        Series series = point(row.method, row.bits, row.nmse_db.mean, best_shown);
        series.color = kGrey;
        series.mark = mark++;
        plot.series.push_back(std::move(series));
    }
    return figure;
}

std::vector<std::string> verdicts(const SchemesReport& report) {
    std::vector<std::string> sentences;
    const auto ours = std::find_if(report.rows.begin(), report.rows.end(),
                                   [](const SchemeRow& row) { return row.ours; });
    if (ours == report.rows.end() || ours->structure == "dense") return sentences;
    for (const std::string& structure : {std::string("dense"), ours->structure})
        for (const char* scheme : {"ternary", "one-bit-channel"}) {
            const SchemeRow* other = find_row(report, scheme, structure);
            if (!other) continue;
            const double better = other->test_nmse_db.mean - ours->test_nmse_db.mean;
            sentences.push_back(fmt::format(
                "one-bit on {} against {} on {}: test nmse {} dB {}, gap {} dB against {} dB, {} "
                "bits against {} the paper's way.",
                ours->structure, scheme, structure, decimal(std::abs(better), 2),
                better >= 0 ? "better" : "worse", decimal(ours->gap_db(), 2),
                decimal(other->gap_db(), 2), grouped(ours->bits.paper),
                grouped(other->bits.paper)));
        }
    return sentences;
}

std::string schemes_csv(const SchemesReport& report) {
    std::string csv =
        "kind,scheme,structure,train_nmse_db,test_nmse_db,test_deviation_db,gap_db,links,"
        "bits_paper,bits_total,sparsity,overlap,microseconds_per_signal,seconds,"
        "latency_microseconds,test_median_nmse_db,test_energy_nmse_db\n";
    for (const SchemeRow& r : report.rows)
        csv += fmt::format("network,{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},\n", r.scheme,
                           r.structure, csv_number(r.train_nmse_db.mean),
                           csv_number(r.test_nmse_db.mean), csv_number(r.test_nmse_db.deviation),
                           csv_number(r.gap_db()), r.links, r.bits.paper, r.bits.total,
                           csv_number(r.sparsity), csv_number(r.overlap),
                           csv_number(r.time.batch_us), csv_number(r.seconds),
                           csv_number(r.time.latency_us), csv_number(r.test_median_nmse_db.mean));
    for (const ReferenceRow& r : report.references)
        csv += fmt::format(
            "reference,\"{}\",,,{},{},,,,{},,,{},,{},{},{}\n", r.method, csv_number(r.nmse_db.mean),
            csv_number(r.nmse_db.deviation), r.bound ? "" : std::to_string(r.bits),
            csv_number(timed(r, r.time.batch_us)), csv_number(timed(r, r.time.latency_us)),
            csv_number(r.median_nmse_db.mean), csv_number(r.energy_nmse_db.mean));
    return csv;
}

std::string schemes_report(const SchemesReport& report) {
    Page page("pibinn comparison", "Weight schemes side by side", report.facts);
    if (!report.problem.empty()) page.paragraph(report.problem);
    page.section("Networks",
                 "Every network is trained on the same signals. Errors are nmse, the energy of the "
                 "error over the energy of the signal: lower is better. The gap is the difference "
                 "between training and test error, the median that of the test signals. The paper "
                 "counts the bits of weights and "
                 "thresholds. Bits in all count the scales and the operator too, and every entry "
                 "of the operator for a dense network.");
    const Table table = schemes_table(report);
    page.table(part_of(table, {0, 1, 2, 3, 4, 5, 7, 8}));
    for (const std::string& sentence : verdicts(report)) page.paragraph(sentence);
    page.section("Inside them",
                 "Zeros are counted among the links. Overlap is the share of the structure's zeros "
                 "at which the ternary weights of the dense network are zero as well. Zeros in "
                 "random places would give the same share as the column of zeros.");
    page.table(part_of(table, {0, 1, 6, 9, 10, 11, 12, 13}));
    if (!report.rows.empty())
        page.paragraph(fmt::format("Times: {}.", timing_note(report.rows.front().time)));
    page.section(
        "Beside what you would pick instead",
        "The same test signals by methods that are tuned or fitted, never trained. The energy "
        "nmse is the energy of all errors over that of all signals, and the median is that "
        "of the nmse of single signals. An oracle knows the support, which no method can: "
        "it is a bound.");
    page.table(references_table(report));
    if (!report.references_note.empty()) page.paragraph(report.references_note);
    page.section("What the bits buy",
                 "Lower and further to the left is better. A mark whose value stands in the legend "
                 "lies off the scale, beyond the border at which it is drawn.");
    const Figure figure = pareto_figure(report);
    page.figures(std::span(&figure, 1));
    page.section("How it was made");
    page.code(report.command);
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
