#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "theory/calibration_tables.hpp"
#include "theory/wrapped_text.hpp"

namespace pibinn {

namespace {

/// An error beside the signal it belongs to.
std::string relative_words(double ratio) {
    if (ratio == 0) return "0, and are exact";
    return fmt::format("{} of their own energy ({} % of their length)", decibels(ratio),
                       rounded(100 * ratio));
}

std::string error_cell(const std::optional<QuantileLimit>& limit) {
    return limit ? fmt::format("{:.4g}", limit->value) : "-";
}

std::string relative_cell(const std::optional<QuantileLimit>& limit) {
    return limit ? decibels(limit->value) : "-";
}

/// "4,973 of 5,000"
std::string rank_cell(const Calibration& c, const std::optional<QuantileLimit>& limit) {
    return limit ? fmt::format("{} of {}", grouped(limit->rank), grouped(c.signals)) : "-";
}

std::string measured_by(const CalibrationSource& s) {
    if (!s.measurements.empty()) return "as given in " + s.measurements;
    return s.noise.empty() ? "as given" : "made by the model's operator, " + s.noise;
}

}  // namespace

std::string coverage_text(double share) { return fmt::format("{:.6g} %", 100 * share); }

Table limits_table(const Calibration& c) {
    Table table = Table::of({"of all signals", "error at most", "of the signal", "rank"});
    for (const Calibration::Coverage& row : c.coverages)
        table.add({coverage_text(row.share), error_cell(row.error), relative_cell(row.relative),
                   rank_cell(c, row.error)});
    table.add({"the median seen", fmt::format("{:.4g}", c.median_error),
               decibels(c.median_relative), ""});
    table.add({"the largest seen", fmt::format("{:.4g}", c.largest_error),
               decibels(c.largest_relative), ""});
    return table;
}

std::vector<std::string> calibration_notes(const Calibration& c) {
    std::vector<std::string> notes;
    if (c.zero_signals > 0)
        notes.push_back(fmt::format(
            "{} of the signals are zero. They have no error relative to "
            "themselves, and are left out there{}.",
            grouped(c.zero_signals), c.main().relative ? "" : ": too few are not zero"));
    notes.push_back(
        fmt::format("Each number holds with probability {} by itself, two of them together with "
                    "{:.6g}.",
                    c.asked.confidence, std::max(0.0, 1 - 2 * (1 - c.asked.confidence))));
    return notes;
}

std::string calibration_origin(const Calibration& c) {
    return fmt::format("Signals: {}. Measurements: {}. Errors: the length of xhat - x{}.",
                       c.source.signals.empty() ? "as given" : c.source.signals,
                       measured_by(c.source), c.unit.empty() ? "" : ", " + c.unit);
}

std::string Calibration::statement() const {
    const Coverage& row = main();
    std::string text = fmt::format(
        "With probability {} over the choice of these {} signals, at least {} of signals drawn "
        "like them are recovered with an error of at most {:.4g}.",
        asked.confidence, grouped(signals), coverage_text(row.share), row.error->value);
    if (row.relative)
        text += fmt::format(
            " With the same probability, at least {}{} have an error of at most {}.",
            coverage_text(row.share), zero_signals > 0 ? " of those that are not zero" : "",
            relative_words(row.relative->value));
    return text;
}

std::vector<std::string> Calibration::assumptions() const {
    return {"the signals were drawn independently of each other, as those to come will be",
            "neither training nor the choice of the model has seen them",
            "those to come are measured by the same operator with the same noise",
            "the model recovers them as it did here: these weights, in float32, polish included"};
}

std::string Calibration::text() const {
    std::string out = wrapped(statement()) + "\n" + table_text(limits_table(*this)) + "\n";
    for (const std::string& note : calibration_notes(*this)) out += wrapped(note);
    out += "\nThis rests on four assumptions:\n";
    for (const std::string& assumption : assumptions()) out += "- " + wrapped(assumption, 2);
    return out + "\n" + wrapped(calibration_origin(*this));
}

}  // namespace pibinn
