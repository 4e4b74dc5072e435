#pragma once

#include <cstdint>

#include "model/parameters.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/recipe.hpp"

namespace pibinn {

/// The latent parameters that a training starts from: the first iterations of the recipe's solver,
/// or random weights for a fully connected network.
ParameterStore starting_parameters(const NetworkSpec& spec, const Operator& op,
                                   const Recipe& recipe, std::uint64_t seed);

/// The prior of `wiener`: the logarithm of the mean energy of each site's entries.
void start_prior(ConstBatchView x, ParameterStore& latent);

}  // namespace pibinn
