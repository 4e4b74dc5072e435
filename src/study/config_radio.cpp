#include "study/config_radio.hpp"

#include <fmt/format.h>

#include "study/config.hpp"
#include "study/config_document.hpp"
#include "study/config_operator.hpp"

namespace pibinn::study {

namespace {

using Value = ConfigValue;

constexpr KeyKinds kBeamspace{ProblemKind::beamspace};
constexpr KeyKinds kAccess{ProblemKind::access};
constexpr KeyKinds kBoth{ProblemKind::beamspace, ProblemKind::access};
constexpr KeyKinds kFourier{ProblemKind::fourier};

constexpr std::uint64_t kMostPaths = 1000;

ConfigKey count_key(std::string_view name, std::string_view example, std::string help,
                    std::optional<std::size_t>& value, const KeyKinds& kinds,
                    std::uint64_t most = kLargestSide) {
    return {name,
            "",
            example,
            std::move(help),
            [&value, most](const Value& v) { value = v.whole(1, most); },
            kinds};
}

void require_at_most(const char* key, std::size_t count, const char* of, std::size_t most,
                     const char* why) {
    if (count > most)
        fail_usage(fmt::format("{} = {} is more than {} = {}", key, count, of, most),
                   fmt::format("{}: set it to at most {}", why, most));
}

void settle_beamspace(const ProblemConfig& problem) {
    const BeamspaceSpec spec = beamspace_spec(problem);
    require_at_most("problem.measurements", spec.measurements, "problem.antennas",
                    spec.prior.antennas, "as many measure a channel in full");
    require_at_most("problem.paths", spec.prior.paths, "problem.antennas", spec.prior.antennas,
                    "beams cannot tell more of them apart");
    if (!problem.operator_file.empty() || !problem.block_files.empty())
        fail_usage(
            "a problem of kind beamspace draws its own operator",
            "name an ensemble such as \"rademacher\", or use kind = \"arrays\" with channels "
            "of your own");
}

void settle_fourier(ProblemConfig& problem) {
    const RadioConfig& radio = problem.radio;
    SyntheticSpec& spec = problem.spec;
    const FourierSpec usual;
    if (!radio.own_n) spec.n = usual.prior.n;
    if (!radio.own_m) spec.m = usual.m;
    require_at_most("problem.m", spec.m, "problem.n", spec.n,
                    "each row of the transform is there once");
    if (radio.nonzeros && radio.own_density)
        fail_usage("problem.nonzeros and problem.density are both given",
                   "say how many entries are not zero in one of the two ways");
    if (radio.nonzeros)
        require_at_most("problem.nonzeros", *radio.nonzeros, "problem.n", spec.n,
                        "there are no more entries");
}

}  // namespace

std::vector<ConfigKey> radio_keys(ProblemConfig& problem) {
    RadioConfig& radio = problem.radio;
    return {
        count_key("antennas", "256",
                  "of the base station: N beams of a channel, 256 by default; of access, vectors "
                  "per row that share a support, 1 by default",
                  radio.antennas, kBoth),
        count_key("measurements", "96", "Q, of a channel by phase shifters; 96 by default",
                  radio.measurements, kBeamspace),
        count_key("paths", "3", "of a channel, the line of sight among them; 3 by default",
                  radio.paths, kBeamspace, kMostPaths),
        {"gains", "", "\"paper\"",
         "\"paper\" (the default); of beamspace, law of the paths, or \"code\", that of the "
         "authors' program; of access, amplitudes 1/(1+d^4) of users at distance d in a cell of "
         "radius 1.05, or \"flat\", all 1 (power control)",
         [&](const Value& v) {
             if (problem.kind == ProblemKind::access)
                 radio.access_gains = v.word(parse_access_gains);
             else
                 radio.gains = v.word(parse_path_gains);
         },
         kBoth},
        count_key("users", "512",
                  "of the cell, 512 by default; of beamspace, channels per draw, each a row of its "
                  "own, 1 by default",
                  radio.users, kBoth),
        count_key("pilots", "64", "QPSK symbols per user: measurements; 64 by default",
                  radio.pilots, kAccess),
        {"activity", "", "0.01", "share of the users that send; 0.01 by default",
         [&](const Value& v) { radio.activity = v.number(0, 1, true); }, kAccess},
        count_key("nonzeros", "8", "entries that are not zero, instead of density", radio.nonzeros,
                  kFourier),
    };
}

void settle_radio(ProblemConfig& problem) {
    SyntheticSpec& spec = problem.spec;
    spec.train = problem.train_rows.value_or(spec.train);
    spec.test = problem.test_rows.value_or(spec.test);
    switch (problem.kind) {
        case ProblemKind::beamspace:
            if (!spec.snr_db) spec.snr_db = BeamspaceSpec{}.snr_db;
            settle_beamspace(problem);
            break;
        case ProblemKind::access: {
            if (!spec.snr_db) spec.snr_db = AccessSpec{}.snr_db;
            const AccessSpec access = access_spec(problem);
            require_at_most("problem.pilots", access.pilots, "problem.users", access.prior.users,
                            "so many users could have orthogonal pilots, which need no solver");
            break;
        }
        default:
            if (!spec.snr_db && !problem.real.noise_std) spec.snr_db = FourierSpec{}.snr_db;
            settle_fourier(problem);
    }
}

BeamspaceSpec beamspace_spec(const ProblemConfig& problem) {
    const RadioConfig& radio = problem.radio;
    BeamspaceSpec spec;
    spec.prior.antennas = radio.antennas.value_or(spec.prior.antennas);
    spec.prior.paths = radio.paths.value_or(spec.prior.paths);
    spec.prior.gains = radio.gains;
    spec.measurements = radio.measurements.value_or(spec.measurements);
    spec.users = radio.users.value_or(spec.users);
    if (radio.own_operator) spec.ensemble = problem.spec.ensemble;
    spec.snr_db = *problem.spec.snr_db;
    spec.train = problem.spec.train;
    spec.test = problem.spec.test;
    return spec;
}

AccessSpec access_spec(const ProblemConfig& problem) {
    const RadioConfig& radio = problem.radio;
    AccessSpec spec;
    spec.prior.users = radio.users.value_or(spec.prior.users);
    spec.prior.activity = radio.activity.value_or(spec.prior.activity);
    spec.prior.antennas = radio.antennas.value_or(spec.prior.antennas);
    spec.prior.gains = radio.access_gains;
    spec.pilots = radio.pilots.value_or(spec.pilots);
    spec.snr_db = *problem.spec.snr_db;
    spec.train = problem.spec.train;
    spec.test = problem.spec.test;
    return spec;
}

FourierSpec fourier_spec(const ProblemConfig& problem) {
    FourierSpec spec;
    spec.prior.n = problem.spec.n;
    spec.prior.density = problem.spec.prior.density;
    spec.prior.nonzeros = problem.radio.nonzeros;
    spec.m = problem.spec.m;
    spec.snr_db = problem.spec.snr_db;
    spec.noise_std = problem.spec.noise_std;
    spec.train = problem.spec.train;
    spec.test = problem.spec.test;
    return spec;
}

}  // namespace pibinn::study
