#include "pibinn/calibration.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "pibinn/error.hpp"
#include "theory/binomial_tail.hpp"

namespace pibinn {

namespace {

constexpr double kUsualCoverages[] = {0.9, 0.99, 0.999};

void require_share(double value, const char* name, const char* example) {
    if (!(value > 0 && value < 1))
        fail_usage(fmt::format("{} {} is not between 0 and 1", name, value),
                   fmt::format("give {}, for example", example));
}

void require_options(const CalibrationOptions& options) {
    require_share(options.confidence, "CalibrationOptions::confidence", "0.999");
    require_share(options.coverage, "CalibrationOptions::coverage", "0.99");
}

void require_enough(std::size_t signals, const CalibrationOptions& options) {
    const double needed = least_for_quantile(options.coverage, options.confidence);
    if (static_cast<double>(signals) >= needed) return;
    fail_input(fmt::format("{} signals are too few for coverage {} with confidence {}: {:.0f} are "
                           "needed",
                           signals, options.coverage, options.confidence, needed),
               "give more signals, or lower CalibrationOptions::coverage or "
               "CalibrationOptions::confidence");
}

/// The middle value; of an even number the larger of both.
double upper_median(std::vector<double>& values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double largest(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

std::vector<double> coverages_of(const CalibrationOptions& options, std::size_t signals) {
    std::vector<double> shares{options.coverage};
    for (const double share : kUsualCoverages)
        if (share != options.coverage && quantile_rank(signals, share, options.confidence))
            shares.push_back(share);
    std::sort(shares.begin(), shares.end());
    return shares;
}

}  // namespace

double least_values(double coverage, double confidence) {
    require_options({confidence, coverage});
    return least_for_quantile(coverage, confidence);
}

std::optional<QuantileLimit> quantile_limit(std::vector<double> values, double coverage,
                                            double confidence) {
    require_options({confidence, coverage});
    const auto rank = quantile_rank(values.size(), coverage, confidence);
    if (!rank) return {};
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(*rank - 1);
    std::nth_element(values.begin(), at, values.end());
    return QuantileLimit{coverage, *at, 1 - binomial_tail(values.size(), coverage, *rank), *rank};
}

Calibration calibration_of(std::span<const HeldOutSignal> signals,
                           const CalibrationOptions& options) {
    require_options(options);
    require_enough(signals.size(), options);
    std::vector<double> error, relative, residual, length, nonzeros;
    for (const HeldOutSignal& signal : signals) {
        // NaN has no rank; the recovery that gives one is refused before.
        ensure(!std::isnan(signal.error), "errors of held-out signals are numbers");
        error.push_back(signal.error);
        length.push_back(signal.length);
        nonzeros.push_back(static_cast<double>(signal.nonzeros));
        if (signal.relative) relative.push_back(*signal.relative);
        if (signal.residual) residual.push_back(*signal.residual);
    }
    Calibration c;
    c.asked = options;
    c.signals = signals.size();
    c.zero_signals = signals.size() - relative.size();
    for (const double share : coverages_of(options, signals.size()))
        c.coverages.push_back({share, quantile_limit(error, share, options.confidence),
                               quantile_limit(relative, share, options.confidence)});
    c.residual = quantile_limit(residual, options.coverage, options.confidence);
    c.length = quantile_limit(length, options.coverage, options.confidence);
    c.nonzeros = quantile_limit(nonzeros, options.coverage, options.confidence);
    c.median_error = upper_median(error);
    c.largest_error = largest(error);
    c.median_relative = upper_median(relative);
    c.largest_relative = largest(relative);
    return c;
}

const Calibration::Coverage& Calibration::main() const {
    for (const Coverage& row : coverages)
        if (row.share == asked.coverage) return row;
    fail_usage("the calibration has no limits", "make it by calibration_of");
}

}  // namespace pibinn
