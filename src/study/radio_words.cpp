#include "study/radio_words.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/config.hpp"

namespace pibinn::study {

namespace {

std::string counted(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string radio_words(const ProblemConfig& problem) {
    if (problem.kind == ProblemKind::beamspace) {
        const BeamspaceSpec spec = beamspace_spec(problem);
        return fmt::format("channels of {} in beamspace, {} with gains of the {}, {}",
                           counted(spec.prior.antennas, "antenna"),
                           counted(spec.prior.paths, "path"),
                           spec.prior.gains == PathGains::paper ? "paper" : "authors' program",
                           counted(spec.measurements, "measurement"));
    }
    if (problem.kind == ProblemKind::access) {
        const AccessSpec spec = access_spec(problem);
        return fmt::format("{}{}, {:g} % of them active, with {} each, {}",
                           counted(spec.prior.users, "user"),
                           spec.prior.gains == AccessGains::flat ? " of equal amplitude" : "",
                           100 * spec.prior.activity, counted(spec.pilots, "QPSK pilot"),
                           counted(spec.prior.antennas, "antenna"));
    }
    const FourierSpec spec = fourier_spec(problem);
    return fmt::format(
        "complex spectra of {} entries, {} of them non-zero, through {} of the Fourier transform",
        spec.prior.n,
        spec.prior.nonzeros ? std::to_string(*spec.prior.nonzeros)
                            : fmt::format("{:g} %", 100 * spec.prior.density),
        counted(spec.m, "row"));
}

void add_radio(nlohmann::ordered_json& json, const ProblemConfig& problem) {
    if (problem.kind == ProblemKind::beamspace) {
        const BeamspaceSpec spec = beamspace_spec(problem);
        json["antennas"] = spec.prior.antennas;
        json["measurements"] = spec.measurements;
        json["paths"] = spec.prior.paths;
        json["gains"] = to_string(spec.prior.gains);
        json["users"] = spec.users;
    } else if (problem.kind == ProblemKind::access) {
        const AccessSpec spec = access_spec(problem);
        json["users"] = spec.prior.users;
        json["pilots"] = spec.pilots;
        json["activity"] = spec.prior.activity;
        if (spec.prior.gains != AccessGains::paper) json["gains"] = to_string(spec.prior.gains);
        json["antennas"] = spec.prior.antennas;
    } else {
        const FourierSpec spec = fourier_spec(problem);
        if (spec.prior.nonzeros)
            json["nonzeros"] = *spec.prior.nonzeros;
        else
            json["density"] = spec.prior.density;
    }
    json["complex"] = true;
}

}  // namespace pibinn::study
