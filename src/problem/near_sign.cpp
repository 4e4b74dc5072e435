#include "problem/near_sign.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pibinn {

namespace {

constexpr double kSameMagnitude = 1e-3;
constexpr double kMostDifferent = 0.1;  // share of the entries
constexpr double kAlike = 0.05;
// Fewer entries may be alike by chance.
constexpr std::size_t kFewestForSigns = 10;
constexpr std::size_t kMostEntriesNamed = 3;

struct Entry {
    std::size_t row = 0, col = 0;
    float value = 0;
    double off = 0;  ///< relative to c
};

float median_magnitude(std::span<const float> values) {
    std::vector<float> magnitudes(values.size());
    std::transform(values.begin(), values.end(), magnitudes.begin(),
                   [](float v) { return std::abs(v); });
    const auto middle = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / 2);
    std::nth_element(magnitudes.begin(), middle, magnitudes.end());
    return *middle;
}

}  // namespace

std::string near_sign_warning(const Operator& op) {
    // Of a complex operator both parts of every entry, once.
    const auto values = op.values().first(op.structure().shared_links());
    if (values.size() < kFewestForSigns || op.formula() || op.is_sign()) return {};
    const double c = median_magnitude(values);
    const auto off = [&](float v) { return std::abs(std::abs(double{v}) - c) / c; };
    std::size_t different = 0;
    double farthest = 0;
    for (const float v : values) {
        different += off(v) > kSameMagnitude;
        farthest = std::max(farthest, off(v));
    }
    const auto entries = static_cast<double>(values.size());
    if (static_cast<double>(different) > kMostDifferent * entries && farthest > kAlike) return {};
    // Where all have one magnitude but for rounding, those of another rounding are meant.
    const double tolerance = different > 0 ? kSameMagnitude : 0;
    std::vector<Entry> named;
    std::vector<bool> seen(values.size(), false);
    std::size_t count = 0;
    op.structure().for_each_link([&](std::size_t i, std::size_t j, std::size_t link) {
        if (link >= values.size() || seen[link] || !(off(values[link]) > tolerance)) return;
        seen[link] = true;  // repetitions share their entries
        ++count;
        named.push_back({i, j, values[link], off(values[link])});
        std::stable_sort(named.begin(), named.end(),
                         [](const Entry& p, const Entry& q) { return p.off > q.off; });
        if (named.size() > kMostEntriesNamed) named.pop_back();
    });
    const bool complex = op.structure().has_imaginary();
    const std::size_t parts_apart =
        op.structure().is_complex() ? op.structure().parts()[0].rows / 2 : op.rows();
    std::string text =
        fmt::format("the operator is nearly +-{:.4g}{}: {} of its {} {} {} not, such as", c,
                    complex ? fmt::format(" +-{:.4g}j", c) : "", count, values.size(),
                    complex ? "numbers" : "entries", count == 1 ? "is" : "are");
    for (std::size_t e = 0; e < named.size(); ++e)
        text += fmt::format("{} {} in row {}, column {}{}", e ? ";" : "", named[e].value,
                            named[e].row % parts_apart, named[e].col,
                            named[e].row >= parts_apart ? " (imaginary part)" : "");
    return text + (complex ? "; round them, and two bits per entry store it instead of 64"
                           : "; round them, and one bit per entry stores it instead of 32");
}

void warn_of_entries(const Operator& op, Problem& problem) {
    std::string warning = near_sign_warning(op);
    if (!warning.empty()) problem.warnings.push_back(std::move(warning));
}

}  // namespace pibinn
