#pragma once

#include <cstddef>

namespace pibinn::cpu {

/// A product of a few dozen rows with a matrix that fits the cache. Rows of b and c are padded
/// (row_kernels.hpp), so that nothing needs to be packed: on 64 rows packing takes a BLAS as long
/// as half of the multiplying.
struct DenseArgs {
    std::size_t rows, inner;
    std::size_t width;  ///< of b and c: whole padded rows
    const float* a;     ///< entry (i, k) at a[i * a_row + k * a_inner]
    std::size_t a_row, a_inner;
    const float* b;  ///< inner x width
    float* c;        ///< rows x width
};

/// c = a b
void multiply_dense(const DenseArgs& args);

/// to[j * to_stride + i] = from[i * from_stride + j]; what stands beyond `rows` in a row of `to`
/// stays.
void transpose(std::size_t rows, std::size_t cols, const float* from, std::size_t from_stride,
               float* to, std::size_t to_stride);

/// columns = links, each run of `length` numbers padded (row_kernels.hpp); the padding stays.
void pad_columns(std::size_t count, std::size_t length, const float* links, float* columns);

}  // namespace pibinn::cpu
