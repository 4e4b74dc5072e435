#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/kernels/kernels.hpp"

namespace pibinn {

enum class Way { automatic, vector, tile };

/// An instruction set and, if asked for, one of its ways.
struct KernelChoice {
    std::string name;  ///< WAY/INSTRUCTION SET, or the instruction set alone
    Way way = Way::automatic;
    KernelSet set;
};

std::vector<std::string> kernel_choices();
/// Throws a usage error for names that this machine has not.
KernelChoice choose_kernel(std::string_view name);

/// Rows from which on a tile is filled, rather than solving them one by one. All ways give the
/// same bits: this is a matter of speed alone.
std::size_t rows_for_tiles(const KernelChoice& choice, std::span<const PackedPart> parts);

}  // namespace pibinn
