#include "problem/find_invariance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "problem/present_entries.hpp"

namespace pibinn {

namespace {

// Deviations from what chance allows. Five, since a wrong "no" costs several dB with few signals,
// and unevenness too small to be seen does little harm.
constexpr double kSigmas = 5;
// Fewer entries than this tell nothing.
constexpr std::size_t kFewestEntries = 50;
// Signals with more entries present than this share are not sparse.
constexpr double kMostPresent = 0.5;
constexpr std::size_t kBands = 8;

/// What is counted over all entries that are present.
struct Counts {
    std::vector<double> per_place;  ///< how often each entry is present
    double entries = 0, positive = 0;
    double successive = 0;  ///< pairs of present entries with none present between them
    double agreeing = 0;    ///< those of one sign
    /// Sums and counts of log |x|, less its mean over the signal, in bands along the signal.
    std::array<double, kBands> sum{}, count{};
    double squares = 0;
};

Counts count(ConstBatchView x) {
    Counts c;
    c.per_place.assign(x.cols, 0);
    std::vector<std::size_t> present;
    for (std::size_t i = 0; i < x.rows; ++i) {
        const auto row = x.row(i);
        present_entries(row, present);
        double mean = 0;
        for (const std::size_t j : present)
            mean += std::log(std::abs(double{row[j]})) / static_cast<double>(present.size());
        for (std::size_t at = 0; at < present.size(); ++at) {
            const std::size_t j = present[at];
            ++c.per_place[j];
            ++c.entries;
            c.positive += row[j] > 0;
            if (at > 0) {
                ++c.successive;
                c.agreeing += (row[j] > 0) == (row[present[at - 1]] > 0);
            }
            // A single entry is as large as its signal.
            if (present.size() < 2) continue;
            const double size = std::log(std::abs(double{row[j]})) - mean;
            const std::size_t band = j * kBands / x.cols;
            c.sum[band] += size;
            ++c.count[band];
            c.squares += size * size;
        }
    }
    return c;
}

/// How uneven the counts of the places are: the chi-square sum of (count - mean)^2 / mean, in its
/// standard deviations above what chance gives on average.
double place_sigmas(const Counts& c) {
    const double places = static_cast<double>(c.per_place.size());
    const double mean = c.entries / places;
    double chi = 0;
    for (const double n : c.per_place) chi += (n - mean) * (n - mean) / mean;
    return places > 1 ? (chi - (places - 1)) / std::sqrt(2 * (places - 1)) : 0;
}

/// How uneven the sizes along the signal are, in the same way: of the means of the bands.
double size_sigmas(const Counts& c) {
    double entries = 0, chi = 0;
    std::size_t bands = 0;
    for (const double n : c.count) entries += n;
    if (entries < 2 || c.squares == 0) return 0;
    const double variance = c.squares / entries;
    for (std::size_t b = 0; b < kBands; ++b)
        if (c.count[b] > 0) {
            chi += c.sum[b] * c.sum[b] / (c.count[b] * variance);
            ++bands;
        }
    if (bands < 2) return 0;
    const double freedom = static_cast<double>(bands - 1);
    return (chi - freedom) / std::sqrt(2 * freedom);
}

/// How far a coin that fell `heads` times is from a fair one, in standard deviations.
double coin_sigmas(double heads, double throws) {
    return throws > 0 ? std::abs(heads - throws / 2) / (std::sqrt(throws) / 2) : 0;
}

}  // namespace

FoundInvariance find_invariance(ConstBatchView x) {
    const Counts c = count(x);
    const auto none = [](std::string why) {
        return FoundInvariance{Invariance::none, std::move(why)};
    };
    if (c.entries > kMostPresent * static_cast<double>(x.rows) * static_cast<double>(x.cols))
        return none(fmt::format("signals are not sparse: {:.0f} % of their entries are present",
                                100 * c.entries / static_cast<double>(x.rows * x.cols)));
    if (c.entries < static_cast<double>(kFewestEntries))
        return none(
            fmt::format("{:.0f} entries in all are too few to tell whether signals are "
                        "exchangeable",
                        c.entries));
    const double places = std::max(place_sigmas(c), size_sigmas(c));
    const double signs =
        std::max(coin_sigmas(c.positive, c.entries), coin_sigmas(c.agreeing, c.successive));
    const bool even = places <= kSigmas, free = signs <= kSigmas;
    const std::string figures =
        fmt::format("places differ by {:.1f} and signs by {:.1f} standard deviations from chance",
                    places, signs);
    if (even && free) return {Invariance::shifts, "signals look exchangeable: " + figures};
    if (even) return {Invariance::places, "places look exchangeable, signs do not: " + figures};
    if (free) return {Invariance::signs, "signs look exchangeable, places do not: " + figures};
    return none("signals do not look exchangeable: " + figures);
}

}  // namespace pibinn
