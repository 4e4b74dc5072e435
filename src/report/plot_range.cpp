#include "report/plot_range.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// Beyond this gnuplot's own arithmetic on ranges overflows.
constexpr double kLargest = 1e100;
constexpr std::array<double, 3> kMantissas{1, 2, 5};
// Numbers between these are read more easily without an exponent.
constexpr double kPlainLeast = 1e-3;
constexpr double kPlainMost = 1e5;

struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    bool empty() const { return low > high; }
};

Range linear_range(Extent e, double air) {
    if (e.empty()) return {0, 1};
    const double size = std::max(std::abs(e.low), std::abs(e.high));
    double width = e.high - e.low;
    if (width <= 1e-9 * size || width == 0) {
        const double half = size > 0 ? 0.5 * size : 0.5;
        return {e.low - half, e.high + half};
    }
    width *= air;
    return {e.low - width, e.high + width};
}

/// The 1-2-5 number next below (above) a value, so that at least two ticks are in range.
double step_down(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    double best = decade;
    for (const double m : kMantissas)
        if (m * decade <= value * (1 + 1e-12)) best = m * decade;
    return best;
}

double step_up(double value) {
    const double decade = std::pow(10, std::floor(std::log10(value)));
    for (const double m : kMantissas)
        if (m * decade >= value * (1 - 1e-12)) return m * decade;
    return 10 * decade;
}

Range log_range(Extent e) {
    if (e.empty()) return {0.1, 1};
    const Range range{step_down(e.low), step_up(e.high)};
    return range.low < range.high ? range : Range{range.low / 2, range.high * 2};
}

Range range_of(const Axis& axis, Extent e, double air) {
    const bool log = axis.scale == Axis::Scale::log;
    for (const auto& limit : {axis.min, axis.max})
        if (limit && !drawable(axis, *limit))
            fail_usage(fmt::format("axis '{}' cannot end at {}", axis.label, *limit),
                       log ? "a log axis needs positive ends" : "give a finite number");
    if (axis.min && axis.max && *axis.min >= *axis.max)
        fail_usage(fmt::format("axis '{}' runs from {} to {}", axis.label, *axis.min, *axis.max),
                   "its least value must be the smaller one");
    Range range = log ? log_range(e) : linear_range(e, air);
    if (axis.min) range.low = *axis.min;
    if (axis.max) range.high = *axis.max;
    if (range.low < range.high) return range;
    // One end was given and all data lies on the far side of it.
    if (axis.min)
        range.high = log ? 10 * range.low : range.low + 1;
    else
        range.low = log ? range.high / 10 : range.high - 1;
    return range;
}

std::string superscript(int exponent) {
    constexpr std::array digits{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    std::string text;
    for (const char c : std::to_string(exponent))
        text += c == '-' ? "\u207b" : digits[static_cast<std::size_t>(c - '0')];
    return text;
}

}  // namespace

bool drawable(const Axis& axis, double value) {
    if (!std::isfinite(value) || std::abs(value) > kLargest) return false;
    return axis.scale == Axis::Scale::linear || value >= 1 / kLargest;
}

PlotRanges plot_ranges(const Plot& plot) {
    Extent x, y;
    for (const Series& s : plot.series) {
        ensure(s.x.size() == s.y.size(), "a series needs as many x as y");
        for (std::size_t i = 0; i < s.x.size(); ++i) {
            if (!drawable(plot.x, s.x[i]) || !drawable(plot.y, s.y[i])) continue;
            x.add(s.x[i]);
            y.add(s.y[i]);
        }
        if (s.style == Series::Style::stems && drawable(plot.y, 0) && !s.y.empty()) y.add(0);
    }
    for (const ReferenceLine& line : plot.lines) {
        const bool vertical = line.direction == ReferenceLine::Direction::vertical;
        if (drawable(vertical ? plot.x : plot.y, line.at)) (vertical ? x : y).add(line.at);
    }
    return {range_of(plot.x, x, 0.02), range_of(plot.y, y, 0.06)};
}

std::vector<double> log_ticks(Range range) {
    const int first = static_cast<int>(std::floor(std::log10(range.low)));
    const int last = static_cast<int>(std::ceil(std::log10(range.high)));
    const bool fine = range.high / range.low < 101;
    const int stride = std::max(1, (last - first + 6) / 7);
    std::vector<double> ticks;
    for (int exponent = first; exponent <= last; exponent += stride)
        for (const double m : kMantissas) {
            const double value = m * std::pow(10, exponent);
            const bool inside = value >= range.low * (1 - 1e-9) && value <= range.high * (1 + 1e-9);
            if (inside && (fine || m == 1)) ticks.push_back(value);
        }
    return ticks;
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
    const bool plain = std::all_of(ticks.begin(), ticks.end(),
                                   [](double v) { return v >= kPlainLeast && v < kPlainMost; });
    std::vector<std::string> labels;
    for (const double tick : ticks) {
        if (plain) {
            labels.push_back(fmt::format("{:.6g}", tick));
            continue;
        }
        // Rounding must not make 999999.99 a number of its own decade.
        const int exponent = static_cast<int>(std::floor(std::log10(tick) + 1e-9));
        const std::string mantissa = fmt::format("{:.3g}", tick / std::pow(10, exponent));
        labels.push_back((mantissa == "1" ? "" : mantissa + "\u00b7") + "10" +
                         superscript(exponent));
    }
    return labels;
}

const char* linear_format(Range range) {
    const double size = std::max(std::abs(range.low), std::abs(range.high));
    if (size < kPlainLeast || size >= 1e9) return "%.1e";
    return size < kPlainMost ? "%g" : "%.0f";
}

double whole_step(Range range) { return std::max(1.0, step_up((range.high - range.low) / 8)); }

}  // namespace pibinn
