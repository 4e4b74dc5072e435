#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "pibinn/calibration.hpp"
#include "theory/wrapped_text.hpp"

namespace pibinn {

namespace {

std::string percent(double share) { return fmt::format("{:.6g} %", 100 * share); }

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

Table limits_table(const Calibration& c) {
    Table table = Table::of({"of all signals", "error at most", "of the signal", "rank"});
    for (const Calibration::Coverage& row : c.coverages)
        table.add({percent(row.share), error_cell(row.error), relative_cell(row.relative),
                   rank_cell(c, row.error)});
    table.add({"the median seen", fmt::format("{:.4g}", c.median_error),
               decibels(c.median_relative), ""});
    table.add({"the largest seen", fmt::format("{:.4g}", c.largest_error),
               decibels(c.largest_relative), ""});
    return table;
}

std::string measured_by(const CalibrationSource& s) {
    if (!s.measurements.empty()) return "as given in " + s.measurements;
    return s.noise.empty() ? "as given" : "made by the model's operator, " + s.noise;
}

}  // namespace

std::string Calibration::statement() const {
    const Coverage& row = main();
    std::string text = fmt::format(
        "With probability {} over the choice of these {} signals, at least {} of signals drawn "
        "like them are recovered with an error of at most {:.4g}.",
        asked.confidence, grouped(signals), percent(row.share), row.error->value);
    if (row.relative)
        text +=
            fmt::format(" With the same probability, at least {}{} have an error of at most {}.",
                        percent(row.share), zero_signals > 0 ? " of those that are not zero" : "",
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
    if (zero_signals > 0)
        out += wrapped(
            fmt::format("{} of the signals are zero. They have no error relative to "
                        "themselves, and are left out there{}.",
                        grouped(zero_signals), main().relative ? "" : ": too few are not zero"));
    out += wrapped(fmt::format(
        "Each number holds with probability {} by itself, two of them together with {:.6g}.",
        asked.confidence, std::max(0.0, 1 - 2 * (1 - asked.confidence))));
    out += "\nThis rests on four assumptions:\n";
    for (const std::string& assumption : assumptions()) out += "- " + wrapped(assumption, 2);
    out += "\n" +
           wrapped(fmt::format("Signals: {}. Measurements: {}. Errors: the length of xhat - x{}.",
                               source.signals.empty() ? "as given" : source.signals,
                               measured_by(source), unit.empty() ? "" : ", " + unit));
    return out;
}

}  // namespace pibinn
