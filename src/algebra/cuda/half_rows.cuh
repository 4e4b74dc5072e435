#pragma once

#include <cstddef>

#include <cuda_fp16.h>

#include "algebra/cuda/device.cuh"

namespace pibinn::cuda {

// Float16 factors of products that TF32 would round too: both have 11 digits, and float16 takes
// half the bytes and half the time. Powers of two bring numbers into its range.

/// The power of two that a matrix with entries up to `largest` is multiplied by. Entries up to 2^11
/// times as large still fit, and those down to 2^-18 of it keep all digits.
float half_scale(float largest);
/// to = scale from
void halve_matrix(const Queue& queue, const float* from, std::size_t count, float scale,
                  __half* to);

/// A batch of rows in float16, its largest number brought just below 2^15, and what the sums of its
/// products are to be multiplied by. Both stay on the device.
class HalfRows {
public:
    void reserve(std::size_t count);
    /// For a product with a matrix that was multiplied by `matrix_scale`.
    void assign(const Queue& queue, const float* from, std::size_t count, float matrix_scale);
    /// For a product with other rows as well, which is multiplied by `step` (null stands for 1).
    void assign(const Queue& queue, const float* from, std::size_t count, float matrix_scale,
                const HalfRows& others, const float* step);

    const __half* values() const { return values_.data(); }
    const float* unit() const { return units_.data(); }
    const float* unit_with_matrix() const { return units_.data() + 1; }
    const float* unit_with_others() const { return units_.data() + 2; }

private:
    void assign(const Queue& queue, const float* from, std::size_t count, float matrix_scale,
                const float* others, const float* step);

    DeviceArray<__half> values_;
    DeviceArray<float> units_;
    DeviceArray<unsigned> largest_;  ///< of each block of threads, as bits
};

}  // namespace pibinn::cuda
