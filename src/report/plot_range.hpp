#pragma once

#include <string>
#include <vector>

#include "report/plot.hpp"

namespace pibinn {

struct Range {
    double low = 0;
    double high = 1;
};

struct PlotRanges {
    Range x;
    Range y;
};

/// Whether a number has a place on this axis.
bool drawable(const Axis& axis, double value);

/// What the axes show: all that can be drawn and a little air, unless the axes say otherwise. Never
/// empty, so that gnuplot has no reason to refuse: it stops at a range without width.
PlotRanges plot_ranges(const Plot& plot);

/// Where a log axis has labels: 1-2-5 on a short one, powers of ten on a long one.
std::vector<double> log_ticks(Range range);
/// Their labels, all of one form: plain numbers, or powers of ten where one of them would need an
/// exponent.
std::vector<std::string> tick_labels(const std::vector<double>& ticks);
/// The printf format of all labels of a linear axis.
const char* linear_format(Range range);
/// The distance between the ticks of an axis that counts, at least 1.
double whole_step(Range range);

}  // namespace pibinn
