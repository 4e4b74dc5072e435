#include "algebra/cpu/column_products.hpp"

#include <algorithm>
#include <cstring>

#include "algebra/products.hpp"

namespace pibinn::cpu {

namespace {

using View = MatrixView<float>;
using ConstView = MatrixView<const float>;

/// Calls visit(row, entry, link, measurement) for the links of every supported entry of a mask.
template <class Visit>
void for_supported_links(const LinkBlock& block, std::size_t rows, const Supports& s,
                         Visit&& visit) {
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t e = 0; e < s.counts[i]; ++e) {
            const std::size_t j = s.indices[i * s.stride + e];
            for (std::size_t l = block.offsets[j]; l < block.offsets[j + 1]; ++l)
                visit(i, j, l, std::size_t{block.rows[l]});
        }
}

}  // namespace

ColumnProducts::ColumnProducts(const LinkBlock& block) : block_(block) {}

bool ColumnProducts::dense_pays(std::size_t rows, const Supports& s) const {
    // A matrix product runs about three times as many multiply-adds a second as the sparse loops.
    std::size_t filled = 0;
    for (std::size_t i = 0; i < rows; ++i) filled += s.counts[i];
    return 10 * filled > 3 * rows * block_.n;
}

ColumnArgs ColumnProducts::column_args(std::size_t rows, const Supports& s) const {
    return {rows, n_stride(), m_stride(), s};
}

void ColumnProducts::lay_out(std::span<const float> links, std::span<float> laid_out) const {
    if (!block_.full()) {
        std::copy(links.begin(), links.end(), laid_out.begin());
        return;
    }
    for (std::size_t j = 0; j < block_.n; ++j)
        std::memcpy(&laid_out[j * m_stride()], &links[j * block_.m], block_.m * sizeof(float));
}

void ColumnProducts::add_back(std::span<const float> laid_out, std::span<float> links) const {
    const std::size_t columns = block_.full() ? block_.n : 1;
    const std::size_t length = block_.full() ? block_.m : block_.links();
    const std::size_t stride = block_.full() ? m_stride() : 0;
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < length; ++i) links[j * length + i] += laid_out[j * stride + i];
}

void ColumnProducts::all_dots(std::size_t rows, const float* v, const float* w, float* q) const {
    if (block_.full()) {
        multiply<float>(ConstView(v, rows, m(), m_stride()), false,
                        ConstView(w, n(), m(), m_stride()), true, View(q, rows, n(), n_stride()));
        return;
    }
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t j = 0; j < n(); ++j) {
            float sum = 0;
            for (std::size_t l = block_.offsets[j]; l < block_.offsets[j + 1]; ++l)
                sum += w[l] * v[i * m_stride() + block_.rows[l]];
            q[i * n_stride() + j] = sum;
        }
}

void ColumnProducts::gather(std::size_t rows, const float* c, Supports s, const float* w,
                            float* v) const {
    if (!block_.full()) {
        std::fill_n(v, rows * m_stride(), 0.0F);
        for_supported_links(block_, rows, s,
                            [&](std::size_t i, std::size_t j, std::size_t l, std::size_t row) {
                                v[i * m_stride() + row] += w[l] * c[i * n_stride() + j];
                            });
    } else if (dense_pays(rows, s)) {
        multiply<float>(ConstView(c, rows, n(), n_stride()), false,
                        ConstView(w, n(), m(), m_stride()), false, View(v, rows, m(), m_stride()));
    } else {
        gather_columns(column_args(rows, s), c, w, v);
    }
}

void ColumnProducts::outer(std::size_t rows, const float* c, Supports s, const float* v,
                           float* dw) const {
    if (!block_.full()) {
        for_supported_links(block_, rows, s,
                            [&](std::size_t i, std::size_t j, std::size_t l, std::size_t row) {
                                dw[l] -= c[i * n_stride() + j] * v[i * m_stride() + row];
                            });
    } else if (dense_pays(rows, s)) {
        subtract_product(ConstView(c, rows, n(), n_stride()), ConstView(v, rows, m(), m_stride()),
                         View(dw, n(), m(), m_stride()));
    } else {
        outer_columns(column_args(rows, s), c, v, dw);
    }
}

void ColumnProducts::support_dots(std::size_t rows, const float* v, Supports s, const float* w,
                                  float* c) const {
    if (!block_.full()) {
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t e = 0; e < s.counts[i]; ++e)
                c[i * n_stride() + s.indices[i * s.stride + e]] = 0;
        for_supported_links(block_, rows, s,
                            [&](std::size_t i, std::size_t j, std::size_t l, std::size_t row) {
                                c[i * n_stride() + j] += w[l] * v[i * m_stride() + row];
                            });
    } else if (dense_pays(rows, s)) {
        all_dots(rows, v, w, c);
    } else {
        dot_columns(column_args(rows, s), v, w, c);
    }
}

}  // namespace pibinn::cpu
