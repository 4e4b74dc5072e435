#pragma once

#include <nlohmann/json_fwd.hpp>

#include "pibinn/model.hpp"

namespace pibinn::study {

/// The parts "model" and "bits" of every JSON that describes a model.
nlohmann::ordered_json model_json(const Model& model);
nlohmann::ordered_json bits_json(const BitCount& bits);

}  // namespace pibinn::study
