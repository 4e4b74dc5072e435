#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "pibinn/model.hpp"

namespace pibinn::cli {

/// The parts "model" and "bits" of every JSON that tells of a model.
nlohmann::ordered_json model_json(const Model& model);
nlohmann::ordered_json bits_json(const BitCount& bits);

/// One line: "one-bit unrolled network, 20 layers, ...".
std::string model_line(const Model& model);
/// The bits a model stores, counted the paper's way and in all.
std::string bits_table(const Model& model);

}  // namespace pibinn::cli
