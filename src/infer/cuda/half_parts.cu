#include "infer/cuda/half_parts.cuh"

#include <algorithm>
#include <cmath>

namespace pibinn::cuda {

HalfMatrix split_matrix(std::span<const float> values) {
    HalfMatrix matrix;
    float most = 0;
    for (const float v : values) most = std::max(most, std::abs(v));
    if (most == 0 || !std::isfinite(most)) most = 1;
    matrix.exact = std::all_of(values.begin(), values.end(),
                               [&](float v) { return v == 0 || std::abs(v) == most; });
    // A power of two where digits count, so that none is lost.
    matrix.unit = matrix.exact ? most : std::ldexp(1.0F, std::ilogb(most));
    matrix.high.reserve(values.size());
    matrix.low.reserve(values.size());
    for (const float v : values) {
        const float scaled = v / matrix.unit;
        const __half high = __float2half_rn(scaled);
        matrix.high.push_back(high);
        matrix.low.push_back(__float2half_rn(scaled - __half2float(high)));
    }
    return matrix;
}

}  // namespace pibinn::cuda
