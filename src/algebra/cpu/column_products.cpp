#include "algebra/cpu/column_products.hpp"

#include <algorithm>

#include "algebra/cpu/dense_kernels.hpp"
#include "algebra/cpu/outer_kernels.hpp"
#include "algebra/products.hpp"

namespace pibinn::cpu {

namespace {

using View = MatrixView<float>;
using ConstView = MatrixView<const float>;

// Numbers of a block up to which our own product is used.
constexpr std::size_t kMostInCache = 32768;

// Densities in per cent from which on the dense way costs less.
constexpr std::size_t kDenseGather = 45;
constexpr std::size_t kDenseOuter = 20;
constexpr std::size_t kDenseDots = 28;

}  // namespace

ColumnProducts::ColumnProducts(const Block& block) : block_(block) {
    if (!block.full()) mask_.emplace(block);
}

std::size_t ColumnProducts::size() const {
    return block_.full() ? std::max(n() * m_stride(), m() * n_stride()) : block_.links();
}

bool ColumnProducts::denser_than(std::size_t percent, std::size_t rows, const Supports& s) const {
    return 100 * std::size_t{s.starts[rows]} > percent * rows * n();
}

bool ColumnProducts::in_cache() const { return m() * n() <= kMostInCache; }

ColumnArgs ColumnProducts::column_args(std::size_t rows, const Supports& s) const {
    return {rows, n_stride(), m_stride(), s};
}

void ColumnProducts::lay_out(std::span<const float> links, std::span<float> columns) const {
    if (block_.full())
        pad_columns(n(), m(), links.data(), columns.data());
    else
        mask_->lay_out(links, columns);
}

void ColumnProducts::lay_out_rows(std::span<const float> links, std::span<float> by_row) const {
    if (!block_.full())
        std::copy(links.begin(), links.end(), by_row.begin());
    else if (in_cache())
        transpose(n(), m(), links.data(), m(), by_row.data(), n_stride());
    else
        lay_out(links, by_row);  // a BLAS packs whatever it gets
}

void ColumnProducts::all_dots(std::size_t rows, const float* v, const float* by_row, float* q) {
    if (mask_) {
        mask_->dots(rows, v, by_row, q);
    } else if (in_cache()) {
        multiply_dense({rows, m(), n_stride(), v, m_stride(), 1, by_row, q});
    } else {
        multiply<float>(ConstView(v, rows, m(), m_stride()), false,
                        ConstView(by_row, n(), m(), m_stride()), true,
                        View(q, rows, n(), n_stride()));
    }
}

void ColumnProducts::gather(std::size_t rows, const float* c, Supports s, const float* w,
                            const float* minus, float* v) {
    if (!mask_ && !denser_than(kDenseGather, rows, s)) {
        gather_columns(column_args(rows, s), c, w, minus, v);
        return;
    }
    if (mask_)
        mask_->gather(rows, c, w, v);
    else if (in_cache())
        multiply_dense({rows, n(), m_stride(), c, n_stride(), 1, w, v});
    else
        multiply<float>(ConstView(c, rows, n(), n_stride()), false,
                        ConstView(w, n(), m(), m_stride()), false, View(v, rows, m(), m_stride()));
    if (minus) combine_rows(rows * m_stride(), 1, v, -1, minus, v);
}

void ColumnProducts::outer(std::size_t rows, const float* c, Supports s, const float* v,
                           std::span<float> dw, Into into) {
    if (mask_)
        mask_->outer(rows, c, v, dw, into);
    else if (in_cache() || !denser_than(kDenseOuter, rows, s))
        outer_columns({rows, n(), m(), c, v, dw.data(), into});
    else
        multiply<float>(ConstView(c, rows, n(), n_stride()), true,
                        ConstView(v, rows, m(), m_stride()), false, View(dw.data(), n(), m()),
                        into == Into::add);
}

void ColumnProducts::support_dots(std::size_t rows, const float* v, Supports s, const float* w,
                                  const float* by_row, float* c) {
    if (mask_ || denser_than(kDenseDots, rows, s))
        all_dots(rows, v, by_row, c);
    else
        dot_columns(column_args(rows, s), v, w, c);
}

}  // namespace pibinn::cpu
