#include "pibinn/beamspace_prior.hpp"

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

constexpr NameTable<PathGains, 2> kGainNames{
    {{PathGains::paper, "paper"}, {PathGains::code, "code"}}};

const double kReflected = std::pow(10.0, -0.5);

struct Path {
    double direction = 0;  ///< psi, of [-1/2, 1/2]
    std::complex<double> gain;
};

Path draw_path(PathGains gains, bool line_of_sight, Stream& stream) {
    const double place = stream.uniform() - 0.5;
    if (gains == PathGains::paper)
        return {place, complex_normal(stream, line_of_sight ? 1 : kReflected)};
    const double direction = 0.5 * std::sin(std::numbers::pi * place);
    if (line_of_sight) return {direction, 1};
    return {direction, kReflected * complex_normal(stream, 1)};
}

/// sin(pi N d) / (N sin(pi d)), which is 1 at d = 0.
double beam_gain(double n, double d) {
    const double below = n * std::sin(std::numbers::pi * d);
    return std::abs(d) < 1e-12 ? 1 : std::sin(std::numbers::pi * n * d) / below;
}

}  // namespace

std::string_view to_string(PathGains gains) { return name_of(kGainNames, gains); }
PathGains parse_path_gains(std::string_view name) {
    return parse_name(kGainNames, name, "law of gains");
}

void require_prior(const BeamspacePrior& prior, std::size_t n) {
    if (prior.antennas == 0) fail_usage("a channel of 0 antennas", "give 256, for example");
    if (prior.paths == 0 || prior.paths > prior.antennas)
        fail_usage(
            fmt::format("a channel of {} paths and {} antennas", prior.paths, prior.antennas),
            "give at least one path, and fewer than antennas");
    if (n != 2 * prior.antennas)
        fail_usage(fmt::format("rows of {} numbers for {} antennas", n, prior.antennas),
                   "a row holds a real and an imaginary part per antenna");
}

void draw_row(const BeamspacePrior& prior, Stream& stream, std::span<float> row) {
    const std::size_t antennas = prior.antennas;
    const auto n = static_cast<double>(antennas);
    std::vector<Path> paths;
    for (std::size_t l = 0; l < prior.paths; ++l)
        paths.push_back(draw_path(prior.gains, l == 0, stream));
    for (std::size_t i = 0; i < antennas; ++i) {
        const double k = static_cast<double>(i) - 0.5 * (n - 1);
        std::complex<double> sum = 0;
        for (const Path& path : paths) sum += path.gain * beam_gain(n, path.direction - k / n);
        row[i] = static_cast<float>(sum.real());
        row[antennas + i] = static_cast<float>(sum.imag());
    }
}

}  // namespace pibinn
