#include "algebra/cpu/column_products.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "pibinn/random.hpp"

namespace pibinn::cpu {
namespace {

/// Random links, vectors and coefficients with a given share of non-zero entries.
struct Data {
    Data(const LinkBlock& block, std::size_t rows_, double density) : products(block), rows(rows_) {
        Stream stream(rows * 1000 + block.m * 10 + block.n, Purpose::tests);
        links.resize(block.links());
        for (float& link : links) link = static_cast<float>(stream.normal());
        w.resize(products.size());
        by_row.resize(products.size());
        products.lay_out(links, w);
        products.lay_out_rows(links, by_row);
        v.resize(rows * products.m_stride());
        c.resize(rows * products.n_stride());
        indices.resize(rows * (products.n_stride() + kPad));
        counts.resize(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < block.m; ++j)
                v[i * products.m_stride() + j] = static_cast<float>(stream.normal());
            for (std::size_t j = 0; j < block.n; ++j)
                if (stream.bernoulli(density)) {
                    c[i * products.n_stride() + j] = static_cast<float>(stream.normal());
                    indices[i * (products.n_stride() + kPad) + counts[i]++] =
                        static_cast<std::uint32_t>(j);
                }
        }
        dense = Matrix<double>(block.m, block.n);
        for (std::size_t j = 0, l = 0; j < block.n; ++j) {
            const std::size_t length =
                block.full() ? block.m : block.offsets[j + 1] - block.offsets[j];
            for (std::size_t e = 0; e < length; ++e, ++l)
                dense(block.full() ? e : block.rows[l], j) = links[l];
        }
    }
    Supports supports() const {
        return {indices.data(), counts.data(), products.n_stride() + kPad};
    }
    double vector(std::size_t i, std::size_t r) const { return v[i * products.m_stride() + r]; }
    double coefficient(std::size_t i, std::size_t j) const {
        return c[i * products.n_stride() + j];
    }

    ColumnProducts products;
    std::size_t rows;
    std::vector<float> links;
    AlignedBuffer<float> w, by_row, v, c;
    std::vector<std::uint32_t> indices, counts;
    Matrix<double> dense;
};

void check(const LinkBlock& block, std::size_t rows, double density) {
    Data d(block, rows, density);
    const double tolerance = 1e-5 * (1 + std::sqrt(static_cast<double>(block.m + block.n + rows)));
    const std::size_t ms = d.products.m_stride();
    const std::size_t ns = d.products.n_stride();

    AlignedBuffer<float> q(rows * ns);
    d.products.all_dots(rows, d.v.data(), d.by_row.data(), q.data());
    AlignedBuffer<float> some(rows * ns);
    d.products.support_dots(rows, d.v.data(), d.supports(), d.w.data(), d.by_row.data(),
                            some.data());
    for (std::size_t i = 0; i < rows; ++i) {
        std::vector<bool> supported(block.n, false);
        for (std::size_t e = 0; e < d.counts[i]; ++e)
            supported[d.indices[i * (ns + kPad) + e]] = true;
        for (std::size_t j = 0; j < block.n; ++j) {
            double sum = 0;
            for (std::size_t r = 0; r < block.m; ++r) sum += d.vector(i, r) * d.dense(r, j);
            ASSERT_NEAR(q[i * ns + j], sum, tolerance);
            if (supported[j]) {
                ASSERT_NEAR(some[i * ns + j], sum, tolerance);
            }
        }
    }
    AlignedBuffer<float> gathered(rows * ms);
    d.products.gather(rows, d.c.data(), d.supports(), d.w.data(), gathered.data());
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t r = 0; r < block.m; ++r) {
            double sum = 0;
            for (std::size_t j = 0; j < block.n; ++j) sum += d.coefficient(i, j) * d.dense(r, j);
            ASSERT_NEAR(gathered[i * ms + r], sum, tolerance);
        }
    AlignedBuffer<float> laid(d.products.size());
    d.products.outer(rows, d.c.data(), d.supports(), d.v.data(), laid.data());
    std::vector<float> dw(block.links(), 1.0F);
    d.products.add_back(laid, dw);
    for (std::size_t j = 0, l = 0; j < block.n; ++j) {
        const std::size_t length = block.full() ? block.m : block.offsets[j + 1] - block.offsets[j];
        for (std::size_t e = 0; e < length; ++e, ++l) {
            double sum = 1;
            for (std::size_t i = 0; i < rows; ++i)
                sum -= d.coefficient(i, j) * d.vector(i, block.full() ? e : block.rows[l]);
            ASSERT_NEAR(dw[l], sum, tolerance);
        }
    }
}

// Densities on both sides of where the dense way starts to pay.
TEST(ColumnProducts, AgreeWithPlainLoopsOnFullBlocks) {
    for (double density : {0.0, 0.05, 0.2, 0.7, 1.0})
        for (auto [m, n] : {std::pair<std::size_t, std::size_t>{1, 1},
                            {1, 7},
                            {7, 1},
                            {50, 100},
                            {33, 17},
                            {150, 40},
                            {300, 11}})
            for (std::size_t rows : {1u, 5u, 64u}) check(LinkBlock{m, n, {}, {}}, rows, density);
}

TEST(ColumnProducts, AgreeWithPlainLoopsOnMasks) {
    const std::vector<std::uint32_t> offsets{0, 2, 3, 6, 7};
    const std::vector<std::uint32_t> rows{0, 2, 1, 0, 1, 4, 3};
    for (double density : {0.0, 0.2, 1.0}) check(LinkBlock{5, 4, offsets, rows}, 9, density);
}

}  // namespace
}  // namespace pibinn::cpu
