#include "pibinn/access_prior.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "problem/complex_normal.hpp"
#include "problem/prior_rows.hpp"

namespace pibinn {

namespace {

constexpr NameTable<AccessGains, 2> kAccessGainNames{
    {{AccessGains::paper, "paper"}, {AccessGains::flat, "flat"}}};

constexpr std::size_t kPaths = 5;
constexpr double kScattered = 0.1;  // of each path, beside 1 of the direct one: 10 dB
constexpr double kSpread = 10 * std::numbers::pi / 180;

/// The channel of one active user at every antenna; `set(antenna, value)`.
template <class Set>
void draw_user(const AccessPrior& prior, Stream& stream, const Set& set) {
    // Uniform in a disc: the square of the distance is uniform. It is drawn in any case, so that
    // both laws have the same users and phases.
    const double squared = prior.radius * prior.radius * stream.uniform();
    const double amplitude = prior.gains == AccessGains::flat ? 1 : 1 / (1 + squared * squared);
    const std::complex<double> direct = std::polar(1.0, 2 * std::numbers::pi * stream.uniform());
    const double first = 2 * std::numbers::pi * stream.uniform();
    std::array<std::complex<double>, kPaths> gains;
    std::array<double, kPaths> angles{};
    for (std::size_t l = 0; l < kPaths; ++l) {
        angles[l] = first + kSpread * stream.uniform();
        gains[l] = amplitude / kPaths * (direct + complex_normal(stream, kScattered));
    }
    for (std::size_t a = 0; a < prior.antennas; ++a) {
        std::complex<double> sum = 0;
        for (std::size_t l = 0; l < kPaths; ++l)
            sum += gains[l] * std::polar(1.0, static_cast<double>(a) * angles[l]);
        set(a, sum);
    }
}

/// The mean of |h|^2 at antenna a for an amplitude of 1: five paths that differ in their angles.
double mean_power(std::size_t a) {
    constexpr auto paths = static_cast<double>(kPaths);
    const double turn = 0.5 * static_cast<double>(a) * kSpread;
    const double together = a == 0 ? 1 : std::pow(std::sin(turn) / turn, 2);
    return (1 + (paths - 1) * together + kScattered) / paths;
}

}  // namespace

std::string_view to_string(AccessGains gains) { return name_of(kAccessGainNames, gains); }
AccessGains parse_access_gains(std::string_view name) {
    return parse_name(kAccessGainNames, name, "law of gains");
}

double AccessPrior::mean_energy() const {
    // The integral of 1/(1 + u^2)^2 over the squared distance u.
    const double most = radius * radius;
    const double amplitude =
        gains == AccessGains::flat ? 1 : 0.5 * (most / (1 + most * most) + std::atan(most)) / most;
    double channel = 0;
    for (std::size_t a = 0; a < antennas; ++a)
        channel += mean_power(a) / static_cast<double>(antennas);
    const auto all = static_cast<double>(users);
    return (all * activity + std::pow(1 - activity, all)) * amplitude * channel;
}

void require_prior(const AccessPrior& prior, std::size_t n) {
    if (prior.users == 0) fail_usage("a cell of 0 users", "give 512, for example");
    if (prior.antennas == 0) fail_usage("a base station of 0 antennas", "give at least one");
    if (!(prior.activity > 0 && prior.activity <= 1))
        fail_usage(fmt::format("an activity of {} is not in (0, 1]", prior.activity),
                   "give the share of users that send, 0.01 for example");
    if (!(prior.radius > 0 && std::isfinite(prior.radius)))
        fail_usage(fmt::format("a cell of radius {}", prior.radius), "give 1, for example");
    if (n != 2 * prior.users * prior.antennas)
        fail_usage(fmt::format("rows of {} numbers for {} users and {} antennas", n, prior.users,
                               prior.antennas),
                   "a row holds a real and an imaginary part per user and antenna");
}

void draw_row(const AccessPrior& prior, Stream& stream, std::span<float> row) {
    const std::size_t users = prior.users;
    const auto draw = [&](std::size_t j) {
        draw_user(prior, stream, [&](std::size_t a, std::complex<double> value) {
            row[a * 2 * users + j] = static_cast<float>(value.real());
            row[a * 2 * users + users + j] = static_cast<float>(value.imag());
        });
    };
    bool any = false;
    for (std::size_t j = 0; j < users; ++j)
        if (stream.bernoulli(prior.activity)) {
            draw(j);
            any = true;
        }
    if (!any) draw(stream.below(static_cast<std::uint32_t>(users)));
}

}  // namespace pibinn
