#pragma once

#include <vector>

#include "infer/packed_block.hpp"
#include "pibinn/model.hpp"

namespace pibinn {

/// The diagonal blocks of one repetition, or the mask, with the signs of every layer in the order
/// in which kernels of this layout read them.
std::vector<PackedBlock> pack_blocks(const Model& model, const SignLayout& layout);

/// The scalars of every layer of a block of m rows, for weights of size 1.
std::vector<PackedLayer> pack_layers(const Model& model, std::size_t m);

/// The pieces of every layer's learned shrink; nothing for other activations.
void pack_shrinks(const Model& model, PackedBlock& block);

/// Whether all weights of a column of a tied network have one magnitude, so that signs and a scale
/// store it.
bool ties_to_signs(const Model& model);

}  // namespace pibinn
