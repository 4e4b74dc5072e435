#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <cuda_runtime.h>

#include "infer/device_network.hpp"

namespace pibinn::cuda {

/// Rows on the device on their way through one block: row i begins at y + i y_stride, and x
/// likewise. With `every_layer`, x_k goes there, `layer_stride` numbers after x_{k-1}.
struct BlockRows {
    std::size_t rows;
    const float* y;
    std::size_t y_stride;
    float* x;
    std::size_t x_stride;
    float* every_layer;
    std::size_t layer_stride;
};

/// All layers of one block.
class BlockNetwork {
public:
    virtual ~BlockNetwork() = default;
    virtual void recover(const BlockRows& rows, cudaStream_t stream) = 0;
    virtual std::string kernel() const = 0;
};

/// One kernel for all layers: each warp keeps sixteen signals in its registers. Null for blocks
/// that are too large for it.
std::unique_ptr<BlockNetwork> resident_network(const DeviceNetwork& network,
                                               const DeviceBlock& block);
/// One kernel for all layers: a block of threads takes 32 signals, and signs are bits. Null for
/// blocks that are larger than 256 x 512, or that hold anything but +- one number per matrix.
std::unique_ptr<BlockNetwork> sign_network(const DeviceNetwork& network, const DeviceBlock& block);
/// Products by cuBLAS, and one kernel behind each; for blocks of any size.
std::unique_ptr<BlockNetwork> layered_network(const DeviceNetwork& network,
                                              const DeviceBlock& block);

/// Conjugate gradients on the support of every row, as algebra/polish.hpp says. `a` is on the
/// device, column by column.
struct PolishArgs {
    const float* a;
    std::size_t m, n;
    float a_unit;  ///< polish_unit of a
    std::size_t steps;
    float cut;
};
/// Shared memory that one row takes, in bytes.
std::size_t polish_memory(std::size_t m, std::size_t n);
void polish_rows(const PolishArgs& args, const BlockRows& rows, cudaStream_t stream);

}  // namespace pibinn::cuda
