#pragma once

#include <cstddef>
#include <cstdint>

#include "infer/kernels/sign_columns.hpp"
#include "infer/packed_block.hpp"

namespace pibinn {

/// Tables of a tile stay in the first cache beside what else is read: 24 KB of 32 or 48.
constexpr std::size_t kTableBytes = 12U << 10U;

/// Words of a column whose tables are made at a time.
std::size_t words_at_a_time(const SignLayout& layout, std::size_t width);

/// The working memory of `width` signals side by side: number i of signal s at [i * width + s].
struct TileWorkspace {
    float *y, *e1, *e2, *r;            ///< rows; e1 = c y - A x1, e2 the one before
    float *x1, *x2, *q;                ///< columns
    float *y_by_signal, *e_by_signal;  ///< with one row a signal
    float* tables;
    float *tau, *counts;      ///< one a signal
    float* shrink;            ///< the pieces of a learned shrink, thresholds times tau
    float* slopes;            ///< partial sums of its slopes
    float *energies, *sizes;  ///< of sites, if the activation looks at these
    std::uint32_t* support;   ///< places in x1 that are not zero, ascending
    std::size_t support_count = 0;
    std::uint32_t* active;  ///< columns where any signal is not zero
    SignColumnSpace sign_columns;
    float* end;

    TileWorkspace(const PackedBlock& block, const SignLayout& layout, std::size_t width,
                  float* workspace);
};

}  // namespace pibinn
