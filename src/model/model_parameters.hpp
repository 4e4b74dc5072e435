#pragma once

#include "model/parameters.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// Refuses a model whose fields do not fit together, with their values. Model::load never gives
/// one, but every field may be changed afterwards.
void require_fitting(const Model& model);

/// Calls visit(name, numbers) for everything that is learned beside links; a vector is empty where
/// the network has no such numbers.
template <class AnyModel, class Visit>
void for_each_scalar(AnyModel& model, Visit&& visit) {
    visit("theta", model.theta);
    visit("gain", model.gain);
    visit("step", model.step);
    visit("beta", model.beta);
    visit("omega", model.omega);
    visit("local", model.local);
    visit("cut", model.cut);
    visit("prior", model.prior);
}

/// The model's numbers in the flat layout that networks run on, and back.
ParameterStore parameters_of(const Model& model);
Model model_of(const NetworkSpec& spec, const Operator& op, const ParameterStore& effective);

}  // namespace pibinn
