#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pibinn/model.hpp"

namespace pibinn {

/// Weights as a model file holds them. Layers follow each other without padding; within a byte the
/// first link has the lowest bit.
/// The rules of the weight kind say how wide a code is and what it means. Of a complex structure
/// the left half of each block's columns is held, from which the right half follows.
struct LinkCodes {
    std::vector<std::uint8_t> bits;
    std::vector<float> scales;  ///< of the network, of each layer, or of each output of each layer
};

/// Only for kinds that are quantised.
LinkCodes pack_links(const Model& model);
/// Fills model.weights, whose spec and operator are set; `where` names the file in errors.
void unpack_links(std::span<const std::uint8_t> bits, std::span<const float> scales,
                  const std::string& where, Model& model);

/// Scales of one layer in the file; a global one is counted by nobody's layer.
std::size_t stored_scales(WeightKind kind, const Structure& structure);

/// Bits, eight per byte in the same order.
std::vector<std::uint8_t> pack_bits(const std::vector<bool>& bits);
/// The first `count` of them.
std::vector<bool> unpack_bits(std::span<const std::uint8_t> bytes, std::size_t count);

constexpr std::size_t bytes_for_bits(std::size_t bits) { return (bits + 7) / 8; }

}  // namespace pibinn
