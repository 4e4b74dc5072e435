#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "pibinn/access_problem.hpp"
#include "pibinn/beamspace_problem.hpp"
#include "pibinn/fourier_problem.hpp"

namespace pibinn::study {

struct ProblemConfig;
struct ConfigKey;

/// What [problem] says of channels, active users and spectra; what it does not say is the default
/// of each kind.
struct RadioConfig {
    std::optional<std::size_t> antennas, measurements, paths, users, pilots, nonzeros;
    PathGains gains = PathGains::paper;
    AccessGains access_gains = AccessGains::paper;
    std::optional<double> activity;
    bool own_operator = false;  ///< problem.operator is set
    bool own_density = false;
    bool own_m = false, own_n = false;
};

/// The keys of [problem] that only these have, read after its kind.
std::vector<ConfigKey> radio_keys(ProblemConfig& problem);

/// What was not said of them; refuses numbers that do not go together.
void settle_radio(ProblemConfig& problem);

// What the problems of a settled configuration are made of.
BeamspaceSpec beamspace_spec(const ProblemConfig& problem);
AccessSpec access_spec(const ProblemConfig& problem);
FourierSpec fourier_spec(const ProblemConfig& problem);

}  // namespace pibinn::study
