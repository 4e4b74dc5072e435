#pragma once

#include "model/parameters.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// The model's numbers in the flat layout that networks run on, and back.
ParameterStore parameters_of(const Model& model);
Model model_of(const NetworkSpec& spec, const Operator& op, const ParameterStore& effective);

}  // namespace pibinn
