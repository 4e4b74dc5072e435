#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <cuda_fp16.h>

namespace pibinn::cuda {

// Products run on matrix units of float16 factors and float32 sums. A number is scaled by a power
// of two and split into two float16 ones, high and low, which keep 22 of its 24 digits. Signs are
// exact in one.

/// A matrix as float16 numbers times one unit.
struct HalfMatrix {
    float unit = 1;
    bool exact = true;  ///< all entries are 0 or +-unit, so that `low` is zero
    std::vector<__half> high, low;
};
HalfMatrix split_matrix(std::span<const float> values);

/// 2^(target - e) for a bound of 2^e to 2^(e+1), kept within what float32 and its inverse hold.
struct Scale {
    float by, back;
};
__device__ inline Scale scale_to(float bound, int target) {
    const int exponent = static_cast<int>((__float_as_uint(bound) >> 23) & 255U) - 127;
    int shift = target - exponent;
    shift = shift > 120 ? 120 : (shift < -120 ? -120 : shift);
    return {__uint_as_float(static_cast<unsigned>(shift + 127) << 23),
            __uint_as_float(static_cast<unsigned>(127 - shift) << 23)};
}

// float16 ends at 65504: a signal is scaled below 2^15 by its largest entry, a residual by its mean
// magnitude, which its entries exceed at most m times.
constexpr int kSignalExponent = 14;
__host__ __device__ inline int residual_exponent(std::size_t m) {
    int digits = 0;
    while ((std::size_t{1} << digits) < m) ++digits;
    return 14 - digits;
}

struct HalfPair {
    __half2 high, low;
};
__device__ inline HalfPair split_pair(float first, float second) {
    const __half2 high = __floats2half2_rn(first, second);
    return {high, __floats2half2_rn(first - __low2float(high), second - __high2float(high))};
}

}  // namespace pibinn::cuda
