// room: model
#pragma once

#include <optional>

#include "pibinn/model.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// The share of a model's stored links whose weight is zero, over all layers. Only `ternary` has
/// zeros to speak of.
double sparsity(const Model& model);

/// How far the zeros that training chose are those that the physics has: of the entries of
/// W_1 .. W_K that lie off `physics`, the share that is zero (the paper's appendix "Overlap
/// Analysis"). Zeros that fall anywhere alike give an overlap equal to the sparsity. Of unrolled
/// dense models; nothing where the physics has no zeros.
std::optional<double> overlap(const Model& model, const Structure& physics);

}  // namespace pibinn
