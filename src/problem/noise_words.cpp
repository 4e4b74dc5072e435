#include "problem/noise_words.hpp"

#include <cmath>
#include <sstream>

#include <fmt/format.h>

namespace pibinn {

std::string noise_words(const Problem& problem) {
    if (problem.given_measurements) return "given";
    if (problem.test_disturbance.artefacts.rows() > 0) return "artefacts";
    if (const auto& snr = problem.snr_db)
        return fmt::format("snr_db {} {}{}", snr->least_db, snr->most_db,
                           snr->power > 0 ? fmt::format(" {}", snr->power) : "");
    return problem.noise_std > 0 ? fmt::format("std {}", problem.noise_std) : "";
}

NoiseWords parse_noise_words(std::string_view text) {
    NoiseWords noise;
    std::istringstream words{std::string(text)};
    words.imbue(std::locale::classic());
    std::string kind;
    words >> kind;
    noise.given = kind == "given";
    noise.artefacts = kind == "artefacts";
    double a = 0, b = 0;
    if (kind == "std" && words >> a && a > 0 && std::isfinite(a)) noise.std = a;
    if (kind == "snr_db" && words >> a >> b && a <= b && std::isfinite(a) && std::isfinite(b)) {
        double power = 0;
        if (!(words >> power && power > 0 && std::isfinite(power))) power = 0;
        noise.snr_db = SnrRange{a, b, power};
    }
    return noise;
}

}  // namespace pibinn
