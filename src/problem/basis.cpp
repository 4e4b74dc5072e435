#include "pibinn/basis.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kRowsPerTask = 16;
// Columns saved as float32 are orthonormal to about 1e-6; what is off by this is another matrix.
constexpr double kOrthonormal = 1e-3;

constexpr NameTable<BasisKind, 4> kNames{{{BasisKind::identity, "identity"},
                                          {BasisKind::dct, "dct"},
                                          {BasisKind::dct2, "dct2"},
                                          {BasisKind::matrix, "matrix"}}};

/// Row k is sqrt(2 / n) cos(pi (2 i + 1) k / (2 n)), the first one 1 / sqrt(n).
Matrix<double> dct_table(std::size_t n) {
    Matrix<double> table(n, n);
    const auto length = static_cast<double>(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) {
            // The angle is reduced in whole numbers first: exact for any n.
            const auto turn = static_cast<double>(((2 * i + 1) * k) % (4 * n));
            table(k, i) =
                k == 0 ? 1 / std::sqrt(length)
                       : std::sqrt(2 / length) * std::cos(std::numbers::pi * turn / (2 * length));
        }
    return table;
}

std::size_t side_of(std::size_t n) {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
    if (side * side != n)
        fail_usage(fmt::format("basis dct2 needs square patches, and {} is not a square", n),
                   "use basis \"dct\", or signals of 64, 256, ... values");
    return side;
}

/// out = T in, or T^T in, of vectors whose entries stand `stride` apart.
void multiply(const Matrix<double>& table, bool analysis, const double* in, double* out,
              std::size_t stride) {
    const std::size_t n = table.rows();
    for (std::size_t k = 0; k < n; ++k) out[k * stride] = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double* const row = table.data() + k * n;
        if (analysis) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i) sum += row[i] * in[i * stride];
            out[k * stride] = sum;
        } else {
            for (std::size_t i = 0; i < n; ++i) out[i * stride] += row[i] * in[k * stride];
        }
    }
}

}  // namespace

std::string_view to_string(BasisKind kind) { return name_of(kNames, kind); }
BasisKind parse_basis_kind(std::string_view name) { return parse_name(kNames, name, "basis"); }

Basis Basis::named(BasisKind kind, std::size_t n) {
    ensure(kind != BasisKind::matrix, "a basis by name is not a matrix");
    Basis basis;
    basis.kind_ = kind;
    if (kind == BasisKind::dct) basis.table_ = dct_table(n);
    if (kind == BasisKind::dct2) basis.table_ = dct_table(side_of(n));
    return basis;
}

Basis Basis::from_matrix(Matrix<float> psi, std::string_view where) {
    const std::size_t n = psi.rows();
    if (n == 0 || n != psi.cols())
        fail_input(fmt::format("basis '{}' is {} x {}", where, psi.rows(), psi.cols()),
                   "give a square matrix with one basis vector a column");
    Basis basis;
    basis.kind_ = BasisKind::matrix;
    basis.table_ = Matrix<double>(n, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) basis.table_(j, i) = psi(i, j);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double product = 0;
            for (std::size_t i = 0; i < n; ++i) product += basis.table_(a, i) * basis.table_(b, i);
            if (std::abs(product - (a == b ? 1 : 0)) > kOrthonormal)
                fail_input(fmt::format("basis '{}' is not orthonormal: the product of columns {} "
                                       "and {} is {:.4g}",
                                       where, b, a, product),
                           "orthonormalise it first: numpy.linalg.qr(matrix)[0]");
        }
    basis.psi_ = std::move(psi);
    return basis;
}

Batch Basis::transform(ConstBatchView rows, bool analysis, ThreadPool& pool) const {
    const std::size_t side = table_.rows();
    const std::size_t n = kind_ == BasisKind::dct2 ? side * side : side;
    ensure(is_identity() || rows.cols == n, "rows are as long as the basis");
    Batch result(rows.rows, rows.cols);
    pool.run_chunks(rows.rows, kRowsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        std::vector<double> in(rows.cols), out(rows.cols);
        for (std::size_t i = begin; i < end; ++i) {
            const auto row = rows.row(i);
            in.assign(row.begin(), row.end());
            if (is_identity()) {
                out = in;
            } else if (kind_ == BasisKind::dct2) {
                for (std::size_t r = 0; r < side; ++r)
                    multiply(table_, analysis, &in[r * side], &out[r * side], 1);
                in = out;
                for (std::size_t c = 0; c < side; ++c)
                    multiply(table_, analysis, &in[c], &out[c], side);
            } else {
                multiply(table_, analysis, in.data(), out.data(), 1);
            }
            for (std::size_t j = 0; j < rows.cols; ++j) result(i, j) = static_cast<float>(out[j]);
        }
    });
    return result;
}

Batch Basis::to_coefficients(ConstBatchView signals, ThreadPool& pool) const {
    return transform(signals, true, pool);
}

Batch Basis::to_signals(ConstBatchView coefficients, ThreadPool& pool) const {
    return transform(coefficients, false, pool);
}

}  // namespace pibinn
