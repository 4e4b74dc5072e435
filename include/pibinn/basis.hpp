// room: problem
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/thread_pool.hpp"

// Every basis, in the order in which users read of them. A new one is a file in src/problem/bases/
// that defines NAME_basis, and its name here.
#define PIBINN_BASES(X) X(identity) X(dct) X(dct2) X(fourier) X(matrix)

namespace pibinn {

#define PIBINN_BASIS_KIND(name) name,
enum class BasisKind { PIBINN_BASES(PIBINN_BASIS_KIND) };
#undef PIBINN_BASIS_KIND

std::string_view to_string(BasisKind kind);
BasisKind parse_basis_kind(std::string_view name);

/// The names of the bases that follow from a length alone: all except `matrix`.
std::vector<std::string_view> basis_names();
/// One of these; another word is a usage error that lists them.
BasisKind parse_named_basis(std::string_view name);

class BasisTransform;

/// An orthonormal basis Psi in which signals s are sparse: s = Psi c, c = Psi^T s. The network
/// recovers the coefficients c. Being orthonormal, it changes neither norms nor white noise.
///
/// A row may hold several vectors, and complex ones as real parts and then imaginary parts. A basis
/// of real numbers does the same to each of these runs of n; one of complex numbers, which is
/// unitary, takes both parts of a vector together.
class Basis {
public:
    Basis() = default;

    /// `dct` is the orthonormal DCT-II of length n; `dct2` its separable two-dimensional form on
    /// square patches of n = side * side values, row by row. `fourier` is of n complex values,
    /// whose coefficients are their unitary DFT. Not for `matrix`.
    static Basis named(BasisKind kind, std::size_t n);
    /// The columns of a square matrix; one whose columns are not orthonormal is an input error.
    static Basis from_matrix(Matrix<float> psi, std::string_view where);

    BasisKind kind() const { return kind_; }
    bool is_identity() const { return kind_ == BasisKind::identity; }
    /// Whether it is of complex signals alone.
    bool is_complex() const;
    /// The numbers of a row that it takes together: n, or 2 n of complex values; 0 for the
    /// identity, which fits any length.
    std::size_t length() const;
    /// Psi of kind `matrix`, empty for the others.
    const Matrix<float>& matrix() const { return psi_; }

    /// c = Psi^T s of every row, run by run of length(), in float64 inside.
    Batch to_coefficients(ConstBatchView signals, ThreadPool& pool) const;
    /// s = Psi c of every row.
    Batch to_signals(ConstBatchView coefficients, ThreadPool& pool) const;

private:
    Batch transform(ConstBatchView rows, bool analysis, ThreadPool& pool) const;

    BasisKind kind_ = BasisKind::identity;
    Matrix<float> psi_;
    std::shared_ptr<const BasisTransform> transform_;  ///< null for the identity
};

}  // namespace pibinn
