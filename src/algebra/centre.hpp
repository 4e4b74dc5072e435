#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pibinn/structure.hpp"

namespace pibinn {

/// The mean of some numbers, added in float64 in an order of its own: the same on every target.
float centre_of(std::span<const float> values);

/// Takes their mean off.
void centre(std::span<float> values);

/// The links of a full block, each column less its mean: what the block is to residuals that are
/// centred.
std::vector<float> centred_columns(const Block& block, std::span<const float> links);

/// The links of a full block, each column less the middle between its smallest and its largest. To
/// a centred residual r both are one, since what they differ by multiplies the sum of r. A column
/// of two values becomes one of signs: both get the same magnitude, whatever the middle rounds to.
std::vector<float> levelled_columns(const Block& block, std::span<const float> links);

}  // namespace pibinn
