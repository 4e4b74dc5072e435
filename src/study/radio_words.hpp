#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace pibinn::study {

struct ProblemConfig;

/// What channels, active users or spectra a problem is about, in words.
std::string radio_words(const ProblemConfig& problem);
/// The same as keys of summary.json.
void add_radio(nlohmann::ordered_json& json, const ProblemConfig& problem);

}  // namespace pibinn::study
