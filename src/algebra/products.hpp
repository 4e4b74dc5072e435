#pragma once

#include <span>

#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// C = A B, or with either side transposed; C += when `accumulate`. On the caller's thread.
template <class T>
void multiply(MatrixView<const T> a, bool transpose_a, MatrixView<const T> b, bool transpose_b,
              MatrixView<T> c, bool accumulate = false);

/// y = x A^T, row by row, for the links `values` of A on `structure`.
template <class T>
void apply_links(const Structure& structure, std::span<const T> values, MatrixView<const T> x,
                 MatrixView<T> y, ThreadPool& pool);

/// x = y A.
template <class T>
void adjoint_links(const Structure& structure, std::span<const T> values, MatrixView<const T> y,
                   MatrixView<T> x, ThreadPool& pool);

}  // namespace pibinn
