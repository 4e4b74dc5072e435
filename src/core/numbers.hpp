#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace pibinn {

/// Numbers as people read them. What is not a number becomes a dash.

/// With this many digits after the point and a true minus sign.
std::string decimal(double value, int digits);
/// Three significant digits: 0.0123, 4.56, 789.
std::string rounded(double value);
/// A ratio of lengths: "-18.2 dB", "exact" for 0, a dash for what is infinite or no number.
std::string decibels(double ratio);
/// Four digits, never more than the value: of what is promised about everything up to it.
std::string rounded_down(double value);
/// Three digits, always more than a value from 0 on: of what nothing exceeds.
std::string rounded_up(double value);
/// 100,640
std::string grouped(std::size_t value);
/// Bits as the bytes a file needs for them: 80 B, 12.6 kB, 3.1 MB.
std::string bytes_of_bits(std::size_t bits);

/// Mean and sample standard deviation of what several seeds gave.
struct Spread {
    double mean = 0;
    double deviation = 0;  ///< 0 for a single value
    std::size_t count = 0;
};

Spread spread(std::span<const double> values);
/// "-19.62", or "-19.62 ± 0.31" of several values.
std::string decimal(const Spread& spread, int digits);

}  // namespace pibinn
