#pragma once

#include "mutator.hpp"

namespace pibinn::fuzz {

/// Changes the header, a JSON text in the metadata, or the tensors, so that the lengths and the
/// offsets fit again.
std::string mutate_safetensors(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
