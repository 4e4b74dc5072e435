#pragma once

#include <cstddef>
#include <cstdint>

#include "infer/packed_part.hpp"

namespace pibinn {

/// Signals that a tile holds side by side.
constexpr std::size_t kTile = 16;

/// Signals that the kernels of one row at a time take through a layer in turns, so that the end of
/// one does not wait for its beginning. Two to six did about as well at 50 x 100, three best.
constexpr std::size_t kTurns = 3;
/// Columns that one of their lists of entries is for, as many as a byte can tell apart, and the
/// bytes of such a list, with room for a vector behind it.
constexpr std::size_t kListed = 256;
constexpr std::size_t kListBytes = kListed + 64;

/// Some rows on their way through all layers of one part.
struct RecoverArgs {
    const PackedPart& part;
    const float* y;  ///< first measurement of the part in the first row
    std::size_t y_stride;
    float* x;  ///< out: first entry of the part in the first row
    std::size_t x_stride;
    std::size_t rows;
    float* every_layer;  ///< x of layer 1 as `x` is, and so on; or null
    std::size_t layer_stride;
    float* workspace;  ///< workspace_floats() of them, aligned to 64 bytes
};

using RecoverKernel = void (*)(const RecoverArgs&);

/// Kernels of one row at a time: lanes are outputs, tables stand in registers. Null where a target
/// has no instruction for it; never for masks.
struct VectorKernels {
    RecoverKernel floats = nullptr;
    RecoverKernel shorts = nullptr;  ///< tables of 16 bits
};

/// The kernels of one instruction set. All of them but that of 16 bits give a row the same bits.
struct KernelSet {
    SignLayout layout;
    SignLayout short_layout;
    VectorKernels vector;
    RecoverKernel tile = nullptr;    ///< up to kTile rows, lanes are signals, tables in memory
    RecoverKernel single = nullptr;  ///< the same with a tile of one
};

/// `target` is one of Highway's.
KernelSet kernel_set(std::int64_t target);
VectorKernels vector_kernels(std::int64_t target);

/// What kernels of one row at a time need for a part, and what those of tiles need.
std::size_t vector_workspace_floats(const PackedPart& part, const SignLayout& layout);
std::size_t vector_signal_floats(const PackedPart& part, const SignLayout& layout);
std::size_t vector_support_floats(const PackedPart& part);
std::size_t tile_workspace_floats(const PackedPart& part, const SignLayout& layout);

}  // namespace pibinn
