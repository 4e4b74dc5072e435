#pragma once

#include "model/parameters.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// Refuses a model whose fields do not fit together, with their values. Model::load never gives
/// one, but every field may be changed afterwards.
void require_fitting(const Model& model);

/// The model's numbers in the flat layout that networks run on, and back.
ParameterStore parameters_of(const Model& model);
Model model_of(const NetworkSpec& spec, const Operator& op, const ParameterStore& effective);

}  // namespace pibinn
