#pragma once

#include <string>

#include "pibinn/model.hpp"

namespace pibinn::cli {

/// Two lines: "unrolled network of 20 one-bit layers ...", and its links, activation and update.
std::string model_lines(const Model& model);
/// The bits a model stores, counted the paper's way and in all.
std::string bits_table(const Model& model);

}  // namespace pibinn::cli
