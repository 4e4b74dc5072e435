#include <cmath>

#include <fmt/format.h>

#include "pibinn/basis.hpp"
#include "pibinn/error.hpp"
#include "problem/basis_transform.hpp"

namespace pibinn {

namespace {

// Columns saved as float32 are orthonormal to about 1e-6; what is off by this is another matrix.
constexpr double kOrthonormal = 1e-3;

}  // namespace

Basis Basis::from_matrix(Matrix<float> psi, std::string_view where) {
    const std::size_t n = psi.rows();
    if (n == 0 || n != psi.cols())
        fail_input(fmt::format("basis '{}' is {} x {}", where, psi.rows(), psi.cols()),
                   "give a square matrix with one basis vector per column");
    Matrix<double> table(n, n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) table(j, i) = psi(i, j);
    for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double product = 0;
            for (std::size_t i = 0; i < n; ++i) product += table(a, i) * table(b, i);
            if (std::abs(product - (a == b ? 1 : 0)) > kOrthonormal)
                fail_input(fmt::format("basis '{}' is not orthonormal: the product of columns {} "
                                       "and {} is {:.4g}",
                                       where, b, a, product),
                           "orthonormalise it first: numpy.linalg.qr(matrix)[0]");
        }
    Basis basis;
    basis.kind_ = BasisKind::matrix;
    basis.psi_ = std::move(psi);
    basis.transform_ = std::make_shared<TableTransform>(std::move(table));
    return basis;
}

extern const BasisDefinition matrix_basis;
const BasisDefinition matrix_basis{"matrix", nullptr};

}  // namespace pibinn
