#pragma once

#include "mutator.hpp"

namespace pibinn::fuzz {

/// Changes, repeats and removes segments of a picture, with their lengths right.
std::string mutate_jpeg(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
