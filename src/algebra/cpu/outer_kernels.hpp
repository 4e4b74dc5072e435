#pragma once

#include <cstddef>

#include "algebra/backend.hpp"

namespace pibinn::cpu {

struct OuterArgs {
    std::size_t rows, n, m;
    const float* c;  ///< rows x n, padded (row_kernels.hpp)
    const float* v;  ///< rows x m, padded
    float* links;    ///< n columns of m, without padding
    Into into;
};

/// links += c^T v, or links = c^T v. Zeros of c cost next to nothing.
void outer_columns(const OuterArgs& args);

}  // namespace pibinn::cpu
