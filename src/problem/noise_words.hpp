#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pibinn/problem.hpp"

namespace pibinn {

/// How a problem's measurements came about beside A x, as a model remembers it.
struct NoiseWords {
    std::optional<double> std;       ///< "std 0.05": of the measurements
    std::optional<SnrRange> snr_db;  ///< "snr_db 10 40", or "snr_db 10 40 0.01" with its power
    bool given = false;              ///< "given": measurements came with the signals
    bool artefacts = false;          ///< "artefacts": recorded ones were added to the signals
};

/// Where a model keeps these words.
inline constexpr const char* kNoiseKey = "pibinn.noise";

/// Empty where measurements are A x, or where noise on signals is all there is: the domain has it.
std::string noise_words(const Problem& problem);
/// What cannot be read says nothing.
NoiseWords parse_noise_words(std::string_view text);

}  // namespace pibinn
