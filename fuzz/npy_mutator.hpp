#pragma once

#include "mutator.hpp"

namespace pibinn::fuzz {

/// A new header, or changed data, with the length of the header right.
std::string mutate_npy(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
