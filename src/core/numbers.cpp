#include "core/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace pibinn {

namespace {

constexpr const char* kDash = "\u2013";
constexpr const char* kMinus = "\u2212";

std::string with_minus(std::string number) {
    if (number.front() != '-') return number;
    number.erase(0, 1);
    // "-0.00" is nothing to anyone but a computer.
    const bool zero = number.find_first_of("123456789") == std::string::npos;
    return zero ? number : fmt::format("{}{}", kMinus, number);
}

}  // namespace

std::string decimal(double value, int digits) {
    return std::isfinite(value) ? with_minus(fmt::format("{:.{}f}", value, digits)) : kDash;
}

std::string rounded(double value) {
    if (!std::isfinite(value)) return kDash;
    const double size = std::abs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e6)) return with_minus(fmt::format("{:.2e}", value));
    const int before = size < 1e-4 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
    return decimal(value, std::max(0, 3 - before));
}

std::string decibels(double ratio) {
    if (ratio == 0) return "exact";
    return std::isfinite(ratio) ? fmt::format("{:.1f} dB", 20 * std::log10(ratio)) : "-";
}

std::string rounded_down(double value) {
    std::string text = fmt::format("{:.4g}", value);
    if (!(value > 0) || !std::isfinite(value) || std::stod(text) <= value) return text;
    return fmt::format("{:.4g}", value - std::pow(10, std::floor(std::log10(value)) - 3));
}

std::string rounded_up(double value) {
    if (!std::isfinite(value)) return kDash;
    const double size = std::max(value, std::numeric_limits<double>::min());
    const double unit = std::pow(10, std::floor(std::log10(size)) - 2);
    double up = std::ceil(size / unit) * unit;
    if (!(up > size)) up += unit;
    return fmt::format("{:.3g}", up);
}

std::string grouped(std::size_t value) {
    const std::string digits = std::to_string(value);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
        text += digits[i];
    }
    return text;
}

std::string bytes_of_bits(std::size_t bits) {
    const std::size_t bytes = bits / 8 + (bits % 8 != 0);
    if (bytes < 1000) return fmt::format("{} B", bytes);
    double value = static_cast<double>(bytes);
    const char* unit = "";
    for (const char* next : {"kB", "MB", "GB", "TB"}) {
        if (value < 999.5) break;
        value /= 1000;
        unit = next;
    }
    return fmt::format("{} {}", rounded(value), unit);
}

Spread spread(std::span<const double> values) {
    if (values.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
    const auto count = static_cast<double>(values.size());
    double sum = 0;
    for (const double v : values) sum += v;
    Spread result{sum / count, 0, values.size()};
    if (values.size() < 2) return result;
    double squares = 0;
    for (const double v : values) squares += (v - result.mean) * (v - result.mean);
    result.deviation = std::sqrt(squares / (count - 1));
    return result;
}

std::string decimal(const Spread& spread, int digits) {
    const std::string mean = decimal(spread.mean, digits);
    if (spread.count < 2) return mean;
    return mean + " \u00b1 " + decimal(spread.deviation, digits);
}

}  // namespace pibinn
