#pragma once

#include <vector>

#include "mutator.hpp"

namespace pibinn::fuzz {

struct PngChunk {
    std::string type;
    std::string data;
};

std::string pack_png(const std::vector<PngChunk>& chunks);

/// Changes the chunks of a picture, or its samples, with every CRC right.
std::string mutate_png(std::string_view bytes, std::size_t most, Dice& dice);

}  // namespace pibinn::fuzz
