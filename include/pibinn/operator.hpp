// room: problem
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "pibinn/matrix.hpp"
#include "pibinn/sparse_matrix.hpp"
#include "pibinn/structure.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// The largest magnitude of a measurement: a network may then amplify it by 10^8 before float32
/// overflows. An overflow can turn into zeros inside a network, which no result tells.
constexpr float kLargestMeasurement = 1e30F;

enum class OperatorEnsemble { gaussian, rademacher };

std::string_view to_string(OperatorEnsemble ensemble);
OperatorEnsemble parse_operator_ensemble(std::string_view name);

/// The sensing operator A of y = A x + noise: a structure and the value of every link.
class Operator {
public:
    Operator() = default;
    Operator(Structure structure, AlignedBuffer<float> values);

    /// Entries N(0, 1/m) or +-1/sqrt(m), with m the rows of the block an entry stands in (its
    /// column's links for `mask`), drawn in link order from the seed's operator stream.
    static Operator random(const Structure& structure, OperatorEnsemble ensemble,
                           std::uint64_t seed);

    /// Every entry of a dense matrix as a link.
    Operator(const Matrix<float>& a) : Operator(from_dense(a)) {}
    static Operator from_dense(MatrixView<const float> a);
    /// The entries of a dense m x n matrix on a structure; an entry off the structure that is not
    /// zero is an error that names it, as are repetitions that differ.
    static Operator from_dense(MatrixView<const float> a, const Structure& structure);
    /// The non-zero entries of a dense matrix as a `mask`.
    static Operator from_sparse(MatrixView<const float> a);
    /// The entries of a sparse matrix as a `mask`, without the full matrix in between.
    static Operator from_sparse(const SparseMatrix& a);

    const Structure& structure() const { return structure_; }
    std::size_t rows() const { return structure_.rows(); }
    std::size_t cols() const { return structure_.cols(); }
    /// One value per link, in the structure's link order.
    std::span<const float> values() const { return values_; }

    /// Y = X A^T: N x n signals to N x m measurements.
    void apply(ConstBatchView x, BatchView y, ThreadPool& pool) const;
    /// X = Y A: N x m measurements to N x n.
    void adjoint(ConstBatchView y, BatchView x, ThreadPool& pool) const;
    Batch apply(ConstBatchView x, ThreadPool& pool) const;
    Batch adjoint(ConstBatchView y, ThreadPool& pool) const;

    /// The whole matrix, repetitions and zeros included: for small operators and for tests.
    Matrix<float> to_dense() const;

    /// ||A||^2, the largest eigenvalue of A^T A, in float64.
    double squared_norm() const;
    /// All entries share one magnitude, so that one bit per entry and one scale store it.
    bool is_sign() const;

private:
    Structure structure_;
    AlignedBuffer<float> values_;
};

}  // namespace pibinn
