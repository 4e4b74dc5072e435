#include "problem/basis_operator.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// The entries of the block, row by row.
Matrix<float> rows_of_block(const Operator& op) {
    const Block& block = op.structure().parts()[0];
    Matrix<float> a(block.rows, block.cols);
    for (std::size_t j = 0; j < block.cols; ++j)
        for (std::size_t i = 0; i < block.rows; ++i) a(i, j) = op.values()[j * block.rows + i];
    return a;
}

/// Row by row, the coefficients of what a measurement looks at.
Operator real_in_basis(const Operator& phi, const Basis& basis, ThreadPool& pool) {
    const Batch a = basis.to_coefficients(rows_of_block(phi), pool);
    const std::size_t repeat = phi.structure().repeat();
    if (repeat == 1) return Operator::from_dense(a);
    AlignedBuffer<float> values;
    for (std::size_t j = 0; j < a.cols(); ++j)
        for (std::size_t i = 0; i < a.rows(); ++i) values.push_back(a(i, j));
    return {Structure::repeated(a.rows(), a.cols(), repeat), std::move(values)};
}

/// The same of a complex matrix. Row a^T becomes a^T Psi, the conjugate of Psi^H conj(a).
Operator complex_in_basis(const Matrix<float>& re, const Matrix<float>& im, std::size_t repeat,
                          const Basis& basis, ThreadPool& pool) {
    const std::size_t m = re.rows(), n = re.cols();
    Batch rows(m, 2 * n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            rows(i, j) = re(i, j);
            rows(i, n + j) = -im(i, j);
        }
    const Batch c = basis.to_coefficients(rows, pool);
    Matrix<float> own_re(m, n), own_im(m, n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            own_re(i, j) = c(i, j);
            own_im(i, j) = -c(i, n + j);
        }
    return Operator::from_complex(own_re, own_im, repeat);
}

/// Whether all of a vector, and of no other, goes through one full block.
bool has_block_per_vector(const Structure& s, const Basis& basis) {
    if (s.kind() == StructureKind::dense) return true;
    if (s.kind() != StructureKind::repeated) return false;
    const std::size_t cols = s.parts()[0].cols;
    return (basis.is_complex() ? 2 : 1) * (s.is_complex() ? cols / 2 : cols) == basis.length();
}

}  // namespace

Operator in_basis(const Operator& phi, const Basis& basis, ThreadPool& pool) {
    if (basis.is_identity()) return phi;
    const Structure& s = phi.structure();
    if (!has_block_per_vector(s, basis))
        fail_usage(
            fmt::format("a basis mixes what a structure of {} keeps apart", to_string(s.kind())),
            "set SensingSpec::structure = StructureKind::dense, or let a drawn operator "
            "sense coefficients");
    const Matrix<float> block = rows_of_block(phi);
    if (!s.is_complex()) {
        if (!basis.is_complex()) return real_in_basis(phi, basis, pool);
        return complex_in_basis(block, Matrix<float>(block.rows(), block.cols()), s.repeat() / 2,
                                basis, pool);
    }
    const std::size_t m = block.rows() / 2, n = block.cols() / 2;
    Matrix<float> re(m, n), im(m, n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < n; ++j) {
            re(i, j) = block(i, j);
            im(i, j) = block(m + i, j);
        }
    return complex_in_basis(re, im, s.repeat(), basis, pool);
}

}  // namespace pibinn
