#pragma once

#include <cstddef>
#include <cstdint>

#include "infer/packed_block.hpp"

namespace pibinn {

/// Signals that a tile holds side by side.
constexpr std::size_t kTile = 16;
/// The same where a mask has many: a link is then read once for four times as many.
constexpr std::size_t kMaskTile = 64;

/// Signals that the vector kernel interleaves: it takes each of them through a layer before the
/// next layer, so that the beginning of a layer need not wait for the end of the one before. Two to
/// six did about as well at 50 x 100, three best.
constexpr std::size_t kInterleave = 3;
/// Rows of a group that it can take through a layer before they are shrunk together. More of them
/// run as the float network.
constexpr std::size_t kMostGroupRows = 16;
/// Columns per list of a support, as many as a byte can tell apart, and the bytes of such a list,
/// with room for a vector behind it.
constexpr std::size_t kListed = 256;
constexpr std::size_t kListBytes = kListed + 64;

/// Some rows to take through all layers of one block.
struct RecoverArgs {
    const PackedBlock& block;
    const float* y;  ///< first measurement of the block in the first row
    std::size_t y_stride;
    float* x;  ///< out: first entry of the block in the first row
    std::size_t x_stride;
    std::size_t rows;
    float* every_layer;  ///< x of layer 1 as `x` is, and so on; or null
    std::size_t layer_stride;
    float* workspace;  ///< workspace_floats() of them, aligned to 64 bytes
};

using RecoverKernel = void (*)(const RecoverArgs&);
/// Polishes what the layers found in whole groups of rows. Working memory is
/// polish_workspace_floats(); `every_layer` is not looked at.
using PolishKernel = void (*)(const RecoverArgs&);

/// The kernels of one instruction set. All of them give a row the same bits.
struct KernelSet {
    SignLayout layout;
    /// A few rows at a time: lanes are outputs, tables stand in registers. Full blocks alone. Null
    /// where an instruction set has no such kernel.
    RecoverKernel vector = nullptr;
    RecoverKernel tile = nullptr;       ///< up to kTile rows, lanes are signals, tables in memory
    RecoverKernel mask_tile = nullptr;  ///< up to kMaskTile rows of a mask
    RecoverKernel single = nullptr;     ///< the same with a tile of one
    PolishKernel polish = nullptr;      ///< after any of them
};

/// `target` is one of Highway's.
KernelSet kernel_set(std::int64_t target);
RecoverKernel vector_kernel(std::int64_t target);
PolishKernel polish_kernel(std::int64_t target);

/// Rows that the vector kernel holds at once: whole groups, and as many as it interleaves or one
/// larger group.
std::size_t rows_together(const PackedBlock& block);
/// Working memory that the vector kernel needs for a block, in all, per signal and per support; and
/// that of the tile kernel.
std::size_t vector_workspace_floats(const PackedBlock& block, const SignLayout& layout);
std::size_t vector_signal_floats(const PackedBlock& block, const SignLayout& layout);
std::size_t vector_support_floats(const PackedBlock& block);
std::size_t tile_workspace_floats(const PackedBlock& block, const SignLayout& layout);
/// Of polish, which comes beside these; none for networks without it.
std::size_t polish_workspace_floats(const PackedBlock& block);

}  // namespace pibinn
