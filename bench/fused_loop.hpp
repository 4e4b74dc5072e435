#pragma once

#include <cstddef>
#include <cstdint>

namespace pibinn::bench {

// The float network in one loop, under the rules of elementwise.hpp. fused_peer.cpp owns what the
// pointers point to.

constexpr std::size_t kFusedLanes = 16;  ///< outputs, or measurements, in one vector
constexpr std::size_t kFusedRows = 64;   ///< signals per pass over a layer's weights

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

/// Computes x2 from x1 and its support, then swaps x1 with x2 and p1 with p2.
void fused_layer(FusedSpace& space, const FusedLayer& layer, std::size_t rows);

}  // namespace pibinn::bench
