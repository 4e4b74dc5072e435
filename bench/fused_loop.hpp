#pragma once

#include <cstddef>
#include <cstdint>

namespace pibinn::bench {

// The float network in one loop, under the rules of openblas_loops.hpp. Plain pointers: what they
// point to is made in fused_peer.cpp.

constexpr std::size_t kFusedLanes = 16;  ///< outputs, and measurements, that stand together
constexpr std::size_t kFusedRows = 64;   ///< signals that share a layer's weights in the cache

/// One layer's numbers.
struct FusedLayer {
    const float* weights;  ///< [block of 16 outputs][m][16]
    float theta;
    float beta;
    float omega;  ///< divided by m
};

/// What does not change from layer to layer. Rows of `p1`, `p2`, `r` and `y` are `m_padded` long,
/// those of `x1`, `x2` and `support` are `n_padded`.
struct FusedSpace {
    std::size_t m, m_padded, n, n_padded;
    bool plain, residual_threshold;
    float delta;
    const float* a;  ///< n columns of m_padded
    float* y;
    float *p1, *p2, *r;
    float *x1, *x2;
    std::uint32_t* support;
    std::size_t* alive;  ///< entries of each row's support
    float* tau;          ///< threshold of each row
};

/// x2 of x1 and its support; then x1 and x2, p1 and p2 have changed places.
void fused_layer(FusedSpace& space, const FusedLayer& layer, std::size_t rows);

}  // namespace pibinn::bench
