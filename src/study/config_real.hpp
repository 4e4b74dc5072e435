#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pibinn/real_problem.hpp"

namespace pibinn::study {

struct ProblemConfig;
struct ConfigKey;
class KeyKinds;
class ConfigValue;

/// What [problem] says of real signals beyond what every problem has.
struct RealConfig {
    std::string path;   ///< folder of pictures, or of segments in EEGdenoiseNet's layout
    std::string basis;  ///< a name or an array file; empty: what the kind has by default
    std::optional<Normalize> normalize;
    std::optional<bool> split_apart;  ///< by image or recording; else by patch or row
    std::optional<bool> on_signals;   ///< what the operator senses; else what is usual for it
    std::optional<std::size_t> m, repeat;
    double ratio = 0.5;
    std::optional<double> noise_std;
    NoisePlace noise_place = NoisePlace::signals;
    std::size_t patch = 8;                    ///< side, of images
    std::size_t patches = 25;                 ///< an image
    std::string ids, artefact, artefact_ids;  ///< of signals
    std::optional<SnrRange> snr_db;           ///< of the measurements, or of the artefact
};

/// The keys of [problem] that only real signals have.
std::vector<ConfigKey> real_keys(RealConfig& real);

/// Refuses a key that a problem of this kind would not look at, naming where it stands.
void require_key_of_kind(const ProblemConfig& problem, const ConfigValue& value,
                         const KeyKinds& kinds);

/// What was not said of images, signals and arrays.
void settle_real(ProblemConfig& problem);

}  // namespace pibinn::study
