#pragma once

#include <string>

#include "pibinn/model.hpp"

namespace pibinn::cli {

/// One line: "unrolled network of 20 one-bit layers ...".
std::string model_line(const Model& model);
/// The bits a model stores, counted the paper's way and in all.
std::string bits_table(const Model& model);

}  // namespace pibinn::cli
