#include "report/calibration_report.hpp"

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "report/html.hpp"
#include "theory/calibration_tables.hpp"

namespace pibinn {

namespace {

std::vector<KeyFigure> limits_seen_from_afar(const Calibration& c) {
    const Calibration::Coverage& row = c.main();
    const std::string of_signals = "for at least " + coverage_text(row.share) + " of all signals";
    std::vector<KeyFigure> figures{
        {"Error at most", fmt::format("{:.4g}", row.error->value), "", of_signals}};
    if (row.relative)
        figures.push_back({"Of the signal at most", decibels(row.relative->value), "", of_signals});
    figures.push_back({"Median error seen", fmt::format("{:.4g}", c.median_error), "",
                       decibels(c.median_relative) + " of the signal"});
    figures.push_back({"Largest error seen", fmt::format("{:.4g}", c.largest_error), "",
                       decibels(c.largest_relative) + " of the signal"});
    return figures;
}

/// By which `recover --check` notices measurements of another kind.
Table check_table(const Calibration& c) {
    Table table = Table::of({"of what recover returns", "at most"});
    const auto add = [&](const char* what, const std::optional<QuantileLimit>& limit) {
        if (limit) table.add({what, fmt::format("{:.4g}", limit->value)});
    };
    add("residual ||y - A x|| / ||y||", c.residual);
    add("length", c.length);
    add("nonzero entries", c.nonzeros);
    return table;
}

}  // namespace

std::string calibration_report(const CalibrationReport& report) {
    const Calibration& c = report.calibration;
    const std::vector<std::string> facts{grouped(c.signals) + " held-out signals",
                                         coverage_text(c.asked.coverage) + " of all signals",
                                         fmt::format("probability {}", c.asked.confidence)};
    Page page("pibinn calibration", "What held-out signals guarantee", facts, c.statement());
    page.section("What it rests on");
    for (const std::string& assumption : c.assumptions())
        page.paragraph("That " + assumption + ".");
    page.paragraph(calibration_origin(c));
    page.key_figures(limits_seen_from_afar(c));
    page.section("Limits");
    page.table(limits_table(c));
    for (const std::string& note : calibration_notes(c)) page.paragraph(note);
    if (const Table table = check_table(c); !table.rows.empty()) {
        page.section("What recover checks",
                     fmt::format("With --check a model that keeps this calibration warns beyond "
                                 "these limits. Each of them holds for at least {} of signals "
                                 "like these.",
                                 coverage_text(c.asked.coverage)));
        page.table(table);
    }
    if (!report.command.empty()) {
        page.section("How it was made");
        page.code(report.command);
    }
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
