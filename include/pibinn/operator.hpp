// room: problem
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "pibinn/matrix.hpp"
#include "pibinn/operator_formula.hpp"
#include "pibinn/sparse_matrix.hpp"
#include "pibinn/structure.hpp"
#include "pibinn/thread_pool.hpp"
#include "pibinn/user_array.hpp"

namespace pibinn {

/// The largest magnitude of a measurement: a network may then amplify it by 10^8 before float32
/// overflows. An overflow can turn into zeros inside a network, which no result tells.
constexpr float kLargestMeasurement = 1e30F;

/// How operators are drawn. Columns have norm 1, exactly or on average.
enum class OperatorEnsemble {
    gaussian,       ///< N(0, 1/m)
    gaussian_unit,  ///< the same, each column divided by its norm
    rademacher,     ///< +-1/sqrt(m)
    hadamard,       ///< rows of Sylvester's matrix, columns with random signs: +-1/sqrt(m)
    bernoulli,      ///< 0 or c with equal probability
    binary_sparse,  ///< a mask of ones, times 1/sqrt(ones of the column)
    dct,            ///< rows of the orthonormal DCT-II, times sqrt(n/m)
    fourier         ///< cosines and sines of random frequencies, orthonormal, times sqrt(n/m)
};

std::string_view to_string(OperatorEnsemble ensemble);
OperatorEnsemble parse_operator_ensemble(std::string_view name);
bool drawn_on_masks(OperatorEnsemble ensemble);

/// The sensing operator A of y = A x + noise: a structure and the value of every link.
class Operator {
public:
    Operator() = default;
    Operator(Structure structure, AlignedBuffer<float> values);

    /// Drawn in link order from the seed's operator stream; m are the rows of the block an entry
    /// stands in (its column's links for `mask`). A transform draws its rows, then its signs, block
    /// by block. gaussian, gaussian-unit, rademacher and binary-sparse can be drawn on a mask, and
    /// the last on nothing else.
    static Operator random(const Structure& structure, OperatorEnsemble ensemble,
                           std::uint64_t seed);

    /// The operator that a formula makes.
    static Operator from_formula(const Structure& structure, OperatorFormula formula);
    /// A(i, j) = taps[i - j - first] as a `mask` of the taps that are not zero: the convolution of
    /// a signal of n entries, cut to m.
    static Operator convolution(std::size_t m, std::size_t n, std::vector<float> taps,
                                std::ptrdiff_t first);

    /// Every entry of a dense matrix as a link.
    Operator(const Matrix<float>& a) : Operator(from_dense(a)) {}
    Operator(const Matrix<double>& a) : Operator(from_dense(a)) {}
    static Operator from_dense(MatrixView<const float> a);
    static Operator from_dense(MatrixView<const double> a);
    /// The entries of a dense m x n matrix on a structure; an entry off the structure that is not
    /// zero is an error that names it, as are repetitions that differ.
    static Operator from_dense(MatrixView<const float> a, const Structure& structure);
    static Operator from_dense(MatrixView<const double> a, const Structure& structure);
    /// A complex matrix, given as its parts, on signals that hold real and then imaginary parts.
    static Operator from_complex(MatrixView<const float> re, MatrixView<const float> im,
                                 std::size_t repeat = 1);
    /// The same of complex numbers; an array of real ones is an input error.
    static Operator from_complex(const UserArray& a, std::size_t repeat = 1);
    /// The entries of a complex m x n matrix on `blocks` or a `mask` of m x n; an entry off it that
    /// is not zero is an error that names it.
    static Operator from_complex(const UserArray& a, const Structure& pattern);
    /// The same of its links, real parts and imaginary parts.
    static Operator from_complex(const Structure& pattern, std::span<const double> re,
                                 std::span<const double> im);
    /// The entries that are not zero as a complex mask.
    static Operator from_complex_sparse(const UserArray& a);
    /// The non-zero entries of a dense matrix as a `mask`.
    static Operator from_sparse(MatrixView<const float> a);
    static Operator from_sparse(MatrixView<const double> a);
    /// The entries of a sparse matrix as a `mask`, without the full matrix in between.
    static Operator from_sparse(const SparseMatrix& a);
    /// One value per link in float64. They are rounded, and kept for `divided`.
    static Operator from_values(Structure structure, AlignedBuffer<double> values);

    const Structure& structure() const { return structure_; }
    std::size_t rows() const { return structure_.rows(); }
    std::size_t cols() const { return structure_.cols(); }
    /// One value per link, in the structure's link order.
    std::span<const float> values() const { return values_; }
    /// The same before they were rounded, where the operator was made of float64; otherwise empty.
    std::span<const double> precise_values() const;
    bool precise() const { return precise_ != nullptr; }
    /// What the values follow from; null where nothing shorter is known. Constant diagonals are
    /// found in whatever values an operator is made of.
    const OperatorFormula* formula() const { return formula_.get(); }

    /// Y = X A^T: N x n signals to N x m measurements.
    void apply(ConstBatchView x, BatchView y, ThreadPool& pool) const;
    /// X = Y A: N x m measurements to N x n.
    void adjoint(ConstBatchView y, BatchView x, ThreadPool& pool) const;
    Batch apply(ConstBatchView x, ThreadPool& pool) const;
    Batch adjoint(ConstBatchView y, ThreadPool& pool) const;

    /// The same with all entries divided by `unit`, before they are rounded where float64 is known.
    /// The result is float32.
    Operator divided(double unit) const;
    /// The same matrix with every entry a link.
    Operator without_structure() const;

    /// The whole matrix, repetitions and zeros included: for small operators and for tests.
    Matrix<float> to_dense() const;

    /// ||A||^2, the largest eigenvalue of A^T A, in float64.
    double squared_norm() const;
    /// All entries share one magnitude, so that one bit per entry and one scale store it.
    bool is_sign() const;
    /// All entries are 0 or one other number, and both are there: a bit per entry does here, too.
    bool is_zero_one() const;

private:
    Structure structure_;
    AlignedBuffer<float> values_;
    std::shared_ptr<const AlignedBuffer<double>> precise_;
    std::shared_ptr<const OperatorFormula> formula_;
    bool fast_formula_ = false;  ///< products by formula take less time
};

}  // namespace pibinn
