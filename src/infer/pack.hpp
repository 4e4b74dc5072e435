#pragma once

#include <vector>

#include "infer/packed_part.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// The diagonal blocks of one repetition, or the mask, with the signs of every layer in the order
/// in which kernels of this layout read them.
std::vector<PackedPart> pack_parts(const Model& model, const SignLayout& layout);

}  // namespace pibinn
