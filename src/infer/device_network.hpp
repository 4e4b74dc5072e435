#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pibinn/activation.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// One diagonal block of a network as a device is given it: dense matrices, column by column.
struct DeviceBlock {
    std::size_t row = 0, col = 0;  ///< where its measurements and entries begin in theirs
    std::size_t m = 0, n = 0;
    std::vector<float> a;
    float a_unit = 1;                         ///< polish_unit of a
    std::vector<std::vector<float>> weights;  ///< of every layer; one for all where they are tied
};

/// An unrolled network for a device, which sees neither models nor structures. Numbers of layers
/// are those of Model; empty ones count nothing.
struct DeviceNetwork {
    std::size_t layers = 0;
    Activation activation = Activation::soft;
    std::size_t pieces = 1;  ///< thresholds per layer
    bool residual_threshold = false;
    float delta = 1;
    std::vector<float> theta, gain, step, beta, omega;
    std::size_t polish = 0;
    float cut = 0;
    std::size_t repeat = 1;
    std::vector<DeviceBlock> blocks;
    /// Activations enter products as one float16 number instead of two: faster, with an error of
    /// 5e-4 per product.
    bool half = false;
};

/// A network on a device. One thread at a time may use it.
class DeviceRecovery {
public:
    virtual ~DeviceRecovery() = default;

    /// Rows in host memory; copies and work of successive parts overlap. With `every_layer`, x_1 ..
    /// x_K go there, one batch after the other.
    virtual void recover(ConstBatchView y, BatchView x, float* every_layer) = 0;
    /// Seconds that `rows` rows take whose numbers are on the device already: the median of some
    /// turns.
    virtual double seconds_on_device(ConstBatchView y, std::size_t rows, std::size_t turns) = 0;
    /// Which kernel runs the first block.
    virtual std::string kernel() const = 0;
};

}  // namespace pibinn
