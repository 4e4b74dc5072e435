#include "report/field_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/field_rows.hpp"

namespace pibinn {

namespace {

using Kind = FieldRow::Kind;

bool is_depth(const FieldReport& report, std::size_t n, std::size_t layers) {
    const std::vector<std::size_t> depths = depths_of(report, n);
    return std::find(depths.begin(), depths.end(), layers) != depths.end();
}

/// Rows of one method, a noise each.
using Method = std::vector<const FieldRow*>;

const FieldRow* at_noise(const Method& method, const Snr& snr_db) {
    for (const FieldRow* row : method)
        if (row->snr_db == snr_db) return row;
    return nullptr;
}

/// The methods of a table: those of its depth, and those that have none or one of their own.
std::vector<Method> methods_of(const FieldReport& report, std::size_t n, std::size_t layers,
                               const std::string& ensemble) {
    std::vector<Method> methods;
    std::vector<std::string> names;
    for (const Kind kind : {Kind::network, Kind::published, Kind::reference, Kind::bound})
        for (const FieldRow& row : report.rows) {
            const bool own_depth = kind != Kind::published && !is_depth(report, n, row.layers);
            if (row.kind != kind || row.n != n || row.ensemble != ensemble ||
                (row.layers != layers && !own_depth))
                continue;
            const std::size_t place =
                place_of(names, fmt::format("{} {}", static_cast<int>(kind), row_words(row)));
            if (place == methods.size()) methods.emplace_back();
            methods[place].push_back(&row);
        }
    return methods;
}

/// The row whose size and times a table shows.
const FieldRow& shown_row(const FieldReport& report, const Method& method) {
    const FieldRow* usual = at_noise(method, usual_noise(report));
    return usual ? *usual : *method.front();
}

Table noise_table(const FieldReport& report, std::size_t n, std::size_t layers,
                  const std::vector<Method>& methods) {
    const std::vector<Snr> noises = noises_of(report, n, layers);
    std::vector<std::string> titles{"method"};
    for (const Snr& noise : noises)
        titles.push_back(noise ? fmt::format("{:g} dB", *noise) : "no noise");
    titles.insert(titles.end(), {"stored bits", kLatencyHeading, kBatchTimeHeading});
    Table table = Table::of(std::move(titles));
    for (const Method& method : methods) {
        const FieldRow& row = shown_row(report, method);
        std::vector<std::string> cells{row_words(row)};
        for (const Snr& noise : noises) {
            const FieldRow* at = at_noise(method, noise);
            cells.push_back(at ? decimal(at->energy_nmse_db, 2) : kNone);
        }
        cells.push_back(row.measured() ? grouped(row.bits) : kNone);
        cells.push_back(row.measured() ? rounded(row.time.latency_us) : kNone);
        cells.push_back(row.measured() ? rounded(row.time.batch_us) : kNone);
        table.add(std::move(cells), row.kind == Kind::network);
    }
    return table;
}

Table training_table(const FieldReport& report) {
    Table table;
    table.columns = {{"network", false}, {"operator", false}, {"n", true},      {"layers", true},
                     {"noise", false},   {"epochs", false},   {"seconds", true}};
    for (const FieldTraining& t : report.trainings)
        table.add({t.network, operator_words(t.ensemble), grouped(t.n), grouped(t.layers), t.noise,
                   t.stages, decimal(t.seconds, 1)});
    return table;
}

/// The first network at its greatest depth: the one the page is about.
std::vector<KeyFigure> key_figures(const FieldReport& report) {
    std::vector<KeyFigure> figures;
    const std::vector<std::size_t> sizes = sizes_of(report);
    if (sizes.empty() || depths_of(report, sizes.front()).empty()) return figures;
    const std::size_t n = sizes.front(), layers = depths_of(report, n).front();
    const std::string ensemble = operators_of(report).front();
    const std::vector<Method> methods = methods_of(report, n, layers, ensemble);
    const Method& first = methods.front();
    for (const Snr& noise : noises_of(report, n, layers)) {
        const FieldRow* row = at_noise(first, noise);
        if (!row) continue;
        std::string note;
        if (const FieldRow* best = best_published(report, n, layers, noise))
            note = fmt::format("best published: {} dB ({})", decimal(best->energy_nmse_db, 1),
                               best->method);
        for (const FieldRow& other : report.rows)
            if (other.kind == Kind::bound && other.n == n && other.ensemble == ensemble &&
                other.snr_db == noise && noise)
                note += fmt::format("{}oracle: {} dB", note.empty() ? "" : "; ",
                                    decimal(other.energy_nmse_db, 1));
        figures.push_back({fmt::format("{}, {}", row->method, snr_words(noise)),
                           decimal(row->energy_nmse_db, 2), "dB", note});
    }
    const FieldRow& row = shown_row(report, first);
    figures.push_back({"Stored in all", grouped(row.bits), "bits",
                       bytes_of_bits(row.bits) + ", operator included"});
    figures.push_back({"Latency", rounded(row.time.latency_us), "us",
                       fmt::format("one signal alone, {}", snr_words(row.snr_db))});
    figures.push_back({"Batch time", rounded(row.time.batch_us), "us per signal",
                       fmt::format("{} signals over {} thread{}", row.time.batch, row.time.threads,
                                   row.time.threads == 1 ? "" : "s")});
    return figures;
}

std::string seed_words(const FieldReport& report) {
    std::string words =
        report.seeds == 1 ? "1 seed" : fmt::format("mean of {} seeds", report.seeds);
    if (report.reference_seeds != report.seeds)
        words += fmt::format(", of {} for methods without a network", report.reference_seeds);
    return words;
}

}  // namespace

std::vector<FieldTable> field_tables(const FieldReport& report) {
    std::vector<FieldTable> tables;
    const std::vector<std::size_t> sizes = sizes_of(report);
    for (const std::size_t n : sizes)
        for (const std::size_t layers : depths_of(report, n)) {
            // A depth at one noise alone is a point of the curve against depth.
            if (n == sizes.front() && noises_of(report, n, layers).size() < 2) continue;
            for (const std::string& ensemble : operators_of(report)) {
                const std::vector<Method> methods = methods_of(report, n, layers, ensemble);
                if (methods.empty()) continue;
                tables.push_back({fmt::format("{} × {}, {} layers, operator: {}", report.m, n,
                                              layers, operator_words(ensemble)),
                                  noise_table(report, n, layers, methods)});
            }
        }
    return tables;
}

Table depth_table(const FieldReport& report) {
    const std::vector<std::size_t> sizes = sizes_of(report);
    const Snr noise = usual_noise(report);
    std::vector<std::size_t> depths;
    if (!sizes.empty()) depths = depths_of(report, sizes.front(), noise);
    std::reverse(depths.begin(), depths.end());
    Table table;
    table.columns = {{"method", false}, {"operator", false}};
    for (const std::size_t layers : depths)
        table.columns.push_back({fmt::format("K = {}", layers), true});
    std::vector<std::string> names;
    for (const Kind kind : {Kind::network, Kind::published, Kind::reference})
        for (const FieldRow& row : report.rows) {
            const auto at = std::find(depths.begin(), depths.end(), row.layers);
            if (row.kind != kind || sizes.empty() || row.n != sizes.front() ||
                row.snr_db != noise || at == depths.end())
                continue;
            const std::string name = kind == Kind::published ? row_words(row) : row.method;
            const std::size_t place = place_of(
                names, fmt::format("{} {} {}", static_cast<int>(kind), name, row.ensemble));
            if (place == table.rows.size()) {
                std::vector<std::string> cells(2 + depths.size(), kNone);
                cells[0] = name;
                cells[1] = operator_words(row.ensemble);
                table.add(std::move(cells), kind == Kind::network);
            }
            table.rows[place].cells[2 + static_cast<std::size_t>(at - depths.begin())] =
                decimal(row.energy_nmse_db, 2);
        }
    return table;
}

std::vector<std::string> field_notes(const FieldReport& report) {
    std::vector<std::string> notes;
    std::string fewer;
    std::size_t most = 0;
    const FieldRow* timed = nullptr;
    for (const FieldRow& row : report.rows) {
        most = std::max(most, row.signals);
        if (!timed && row.kind == Kind::network) timed = &row;
    }
    std::vector<std::string> seen;
    for (const FieldRow& row : report.rows) {
        if (!row.measured() || row.signals == most) continue;
        const std::string name = fmt::format("{} at n = {} ({})", row.method, row.n, row.signals);
        if (place_of(seen, name) + 1 == seen.size() && fewer.find(name) == std::string::npos)
            fewer += (fewer.empty() ? "" : "; ") + name;
    }
    if (timed)
        notes.push_back(fmt::format("Bits and times are those at {}. {}.",
                                    snr_words(usual_noise(report)), timing_note(timed->time)));
    if (!fewer.empty())
        notes.push_back(
            fmt::format("Judged by the first of {} test signals only: {}.", most, fewer));
    const bool published = std::any_of(report.rows.begin(), report.rows.end(),
                                       [](const auto& row) { return row.kind == Kind::published; });
    if (!published)
        notes.emplace_back("Published figures are of 250 × 500 and larger, and not shown here.");
    for (std::size_t i = 0; published && i < report.sources.size(); ++i)
        notes.push_back(fmt::format("[{}] {}", i + 1, report.sources[i]));
    return notes;
}

std::string field_text(const FieldReport& report) {
    std::string text;
    for (const FieldTable& table : field_tables(report))
        text += fmt::format("{}\n{}\n", table.heading, table_text(table.table, kTitleWidth));
    text += fmt::format("By depth, at {}\n{}\n", snr_words(usual_noise(report)),
                        table_text(depth_table(report), kTitleWidth));
    text += "Energy nmse in dB; * a network.\n";
    for (const std::string& note : field_notes(report)) text += note + "\n";
    return text;
}

std::string field_report(const FieldReport& report) {
    const std::vector<std::string> facts{
        fmt::format("{} measurements", report.m), seed_words(report),
        fmt::format("{} trainings{}", report.trainings.size(),
                    report.device == "cpu" ? "" : " on " + report.device),
        report.machine, report.date};
    Page page("pibinn field", "The field's benchmark", facts);
    page.paragraph(
        "Sparse signals of independent entries, most of them zero and the others N(0, 1), are "
        "measured by a random operator with columns of norm 1. The error is the energy nmse: the "
        "energy of all errors over that of all signals, in dB, lower is better.");
    page.key_figures(key_figures(report));
    page.section("Against depth and noise",
                 "One training per point. Grey marks are methods without a network and the best "
                 "published figure.");
    // One below the other: their legends need the width.
    for (const Figure& figure : depth_figures(report)) page.figures(std::span(&figure, 1));
    page.table(depth_table(report));
    page.section("What bits and time buy",
                 "Lower and further to the left is better. A line of points is one network at "
                 "several depths.");
    for (const Figure& figure : trade_figures(report)) page.figures(std::span(&figure, 1));
    page.section("All methods",
                 "Shaded rows are our networks. Tied weights are those of the operator, so that "
                 "nothing but the operator and a few numbers per layer is stored: one bit per "
                 "entry of an operator of signs. Numbers in brackets are sources of published "
                 "figures, all of float networks on Gaussian operators.");
    for (const FieldTable& table : field_tables(report)) {
        page.paragraph(table.heading);
        page.table(table.table);
    }
    for (const std::string& note : field_notes(report)) page.paragraph(note);
    page.section("How it was made",
                 "Tied networks train a few numbers per layer by the default recipe. The others "
                 "train every weight, with the epochs that the table states, which are fewer than "
                 "their recipes have.");
    page.table(training_table(report));
    page.code(report.command);
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
