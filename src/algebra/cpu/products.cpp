#include "algebra/products.hpp"

#include <algorithm>

#include <cblas.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

// Rows a task takes. Fixed, so that the borders (and with them the rounding) never depend on the
// number of threads; large enough that a 50 x 100 product fills the matrix kernel.
constexpr std::size_t kRowsPerTask = 128;

/// OpenBLAS must not start threads of its own beneath our pool.
void use_one_blas_thread() {
    static const bool once = [] {
        openblas_set_num_threads(1);
        return true;
    }();
    (void)once;
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const float* a, int lda,
          const float* b, int ldb, float beta, float* c, int ldc) {
    cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, a, lda, b, ldb, beta, c, ldc);
}

void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, const double* a, int lda,
          const double* b, int ldb, double beta, double* c, int ldc) {
    cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, a, lda, b, ldb, beta, c, ldc);
}

/// Calls task(block, x rows, y rows) for every diagonal block and every chunk of rows, with
/// repetitions folded into rows: N x (u n) is (N u) x n in memory.
template <class X, class Y, class Task>
void for_each_block(const Structure& s, MatrixView<X> x, MatrixView<Y> y, ThreadPool& pool,
                    const Task& task) {
    const std::size_t u = s.repeat();
    if (u > 1) {
        ensure(x.contiguous() && y.contiguous(), "a repeated product needs batches without gaps");
        x = {x.data, x.rows * u, x.cols / u};
        y = {y.data, y.rows * u, y.cols / u};
    }
    pool.run_chunks(x.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (const Block& b : s.diagonal())
            task(b, x.row_range(begin, end).col_range(b.col, b.col + b.cols),
                 y.row_range(begin, end).col_range(b.row, b.row + b.rows));
    });
}

template <class T>
void check_shapes(const Structure& s, std::span<const T> values, std::size_t x_rows,
                  std::size_t x_cols, std::size_t y_rows, std::size_t y_cols) {
    ensure(
        values.size() == s.links() && x_cols == s.cols() && y_cols == s.rows() && x_rows == y_rows,
        "product of batches whose shapes do not fit the structure");
}

}  // namespace

template <class T>
void multiply(MatrixView<const T> a, bool transpose_a, MatrixView<const T> b, bool transpose_b,
              MatrixView<T> c, bool accumulate) {
    const std::size_t inner = transpose_a ? a.rows : a.cols;
    ensure((transpose_b ? b.cols : b.rows) == inner && (transpose_a ? a.cols : a.rows) == c.rows &&
               (transpose_b ? b.rows : b.cols) == c.cols,
           "matrix product of shapes that do not fit");
    if (c.rows == 0 || c.cols == 0) return;
    use_one_blas_thread();
    const auto leading = [](std::size_t stride) {
        return static_cast<int>(std::max<std::size_t>(stride, 1));
    };
    gemm(transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
         static_cast<int>(c.rows), static_cast<int>(c.cols), static_cast<int>(inner), a.data,
         leading(a.stride), b.data, leading(b.stride), accumulate ? T{1} : T{0}, c.data,
         leading(c.stride));
}

template <class T>
void apply_links(const Structure& s, std::span<const T> values, MatrixView<const T> x,
                 MatrixView<T> y, ThreadPool& pool) {
    check_shapes(s, values, x.rows, x.cols, y.rows, y.cols);
    if (s.kind() == StructureKind::mask) {
        const auto offsets = s.offsets();
        const auto rows = s.row_indices();
        pool.run_chunks(x.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) {
                const auto in = x.row(r);
                const auto out = y.row(r);
                std::fill(out.begin(), out.end(), T{0});
                for (std::size_t j = 0; j < in.size(); ++j) {
                    if (in[j] == T{0}) continue;  // most entries of a sparse signal
                    for (std::size_t l = offsets[j]; l < offsets[j + 1]; ++l)
                        out[rows[l]] += values[l] * in[j];
                }
            }
        });
        return;
    }
    for_each_block(s, x, y, pool, [&](const Block& b, MatrixView<const T> xb, MatrixView<T> yb) {
        const MatrixView<const T> columns(values.data() + b.first_link, b.cols, b.rows);
        multiply<T>(xb, false, columns, false, yb);
    });
}

template <class T>
void adjoint_links(const Structure& s, std::span<const T> values, MatrixView<const T> y,
                   MatrixView<T> x, ThreadPool& pool) {
    check_shapes(s, values, x.rows, x.cols, y.rows, y.cols);
    if (s.kind() == StructureKind::mask) {
        const auto offsets = s.offsets();
        const auto rows = s.row_indices();
        pool.run_chunks(y.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) {
                const auto in = y.row(r);
                const auto out = x.row(r);
                for (std::size_t j = 0; j < out.size(); ++j) {
                    T sum = 0;
                    for (std::size_t l = offsets[j]; l < offsets[j + 1]; ++l)
                        sum += values[l] * in[rows[l]];
                    out[j] = sum;
                }
            }
        });
        return;
    }
    for_each_block(s, x, y, pool, [&](const Block& b, MatrixView<T> xb, MatrixView<const T> yb) {
        const MatrixView<const T> columns(values.data() + b.first_link, b.cols, b.rows);
        multiply<T>(yb, false, columns, true, xb);
    });
}

template void multiply<float>(MatrixView<const float>, bool, MatrixView<const float>, bool,
                              MatrixView<float>, bool);
template void multiply<double>(MatrixView<const double>, bool, MatrixView<const double>, bool,
                               MatrixView<double>, bool);
template void apply_links<float>(const Structure&, std::span<const float>, MatrixView<const float>,
                                 MatrixView<float>, ThreadPool&);
template void apply_links<double>(const Structure&, std::span<const double>,
                                  MatrixView<const double>, MatrixView<double>, ThreadPool&);
template void adjoint_links<float>(const Structure&, std::span<const float>,
                                   MatrixView<const float>, MatrixView<float>, ThreadPool&);
template void adjoint_links<double>(const Structure&, std::span<const double>,
                                    MatrixView<const double>, MatrixView<double>, ThreadPool&);

}  // namespace pibinn
