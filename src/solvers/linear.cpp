#include "pibinn/linear.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "algebra/products.hpp"
#include "pibinn/error.hpp"
#include "solvers/checks.hpp"

namespace pibinn {

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Pairs added to the covariances at a time, and their columns per task: fixed, so that the order of
// every sum is the same for any number of threads.
constexpr std::size_t kPairsAtATime = 1024;
constexpr std::size_t kColumnsPerTask = 64;

// Without noise a normal matrix is shifted by this share of its mean eigenvalue, so that dependent
// rows give the least-norm solution instead of a failed factorisation.
constexpr double kSmallestShift = 1e-10;

Structure full_blocks(const Structure& s) {
    if (s.kind() != StructureKind::mask) return s;
    return s.is_complex() ? Structure::complex(s.rows() / 2, s.cols() / 2)
                          : Structure::dense(s.rows(), s.cols());
}

/// Real and imaginary parts, times i.
void turn(std::span<double> parts) {
    const std::size_t n = parts.size() / 2;
    for (std::size_t j = 0; j < n; ++j) {
        const double re = parts[j];
        parts[j] = -parts[n + j];
        parts[n + j] = re;
    }
}

/// Makes the four numbers of a complex entry its two parts, which they are but for rounding.
void pair_parts(const Block& b, std::span<float> values) {
    const std::size_t m = b.rows / 2, n = b.cols / 2;
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < m; ++i) {
            float& first = values[j * b.rows + i];
            float& below = values[j * b.rows + m + i];
            float& right = values[(n + j) * b.rows + i];
            float& last = values[(n + j) * b.rows + m + i];
            first = last = 0.5F * (first + last);
            below = 0.5F * (below - right);
            right = -below;
        }
}

/// One block of pairs as a long thin table: row k is [y_k | x_k], repetitions folded into rows, and
/// of complex pairs each once more times i.
struct PairTable {
    const Structure& structure;
    const Block& block;
    ConstBatchView x;
    ConstBatchView y;

    std::size_t turns() const { return structure.is_complex() ? 2 : 1; }
    std::size_t rows() const { return x.rows * structure.repeat() * turns(); }
    std::size_t cols() const { return block.rows + block.cols; }

    void copy_row(std::size_t k, std::span<const double> mean, std::span<double> out) const {
        copy_pair(k / turns(), mean, out);
        if (k % turns() == 0) return;
        turn(out.first(block.rows));
        turn(out.subspan(block.rows));
    }

    void copy_pair(std::size_t k, std::span<const double> mean, std::span<double> out) const {
        const std::size_t u = structure.repeat();
        const float* from_y = y.row(k / u).data() + (k % u) * (structure.rows() / u) + block.row;
        const float* from_x = x.row(k / u).data() + (k % u) * (structure.cols() / u) + block.col;
        std::copy_n(from_y, block.rows, out.begin());
        std::copy_n(from_x, block.cols, out.begin() + block.rows);
        for (std::size_t c = 0; c < out.size(); ++c) out[c] -= mean[c];
    }

    std::vector<double> mean() const {
        const std::vector<double> zero(cols(), 0.0);
        std::vector<double> row(cols());
        std::vector<double> sum(cols(), 0.0);
        const std::size_t pairs = rows() / turns();
        for (std::size_t k = 0; k < pairs; ++k) {
            copy_pair(k, zero, row);
            for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += row[c];
        }
        for (double& v : sum) v /= static_cast<double>(pairs);
        return sum;
    }

    /// [C_yy | C_yx], m x (m + n), about the given mean.
    Matrix<double> covariance(std::span<const double> mean, ThreadPool& pool) const {
        Matrix<double> c(block.rows, cols());
        for (std::size_t start = 0; start < rows(); start += kPairsAtATime) {
            Matrix<double> pairs(std::min(kPairsAtATime, rows() - start), cols());
            for (std::size_t k = 0; k < pairs.rows(); ++k) copy_row(start + k, mean, pairs.row(k));
            const MatrixView<const double> table = pairs.view();
            pool.run_chunks(cols(), kColumnsPerTask,
                            [&](std::size_t, std::size_t begin, std::size_t end) {
                                multiply<double>(table.col_range(0, block.rows), true,
                                                 table.col_range(begin, end), false,
                                                 c.view().col_range(begin, end), true);
                            });
        }
        for (double& v : c.values()) v /= static_cast<double>(rows());
        return c;
    }
};

/// The factor of a symmetric positive definite matrix, or an error when it is singular.
Eigen::LLT<RowMajor> factorise(const RowMajor& a, double ridge) {
    Eigen::LLT<RowMajor> factor(a);
    if (factor.info() != Eigen::Success || factor.rcond() < 1e-15)
        fail_input(fmt::format("the covariance of {} measurements is singular at ridge {}",
                               a.rows(), ridge),
                   "raise the ridge, or give more training pairs than measurements");
    return factor;
}

}  // namespace

LinearEstimator::LinearEstimator(const Structure& structure)
    : structure_(full_blocks(structure)), values_(structure_.links()) {}

LinearEstimator LinearEstimator::fit(const Structure& structure, const DataSet& pairs,
                                     const LinearFitOptions& options, ThreadPool& pool) {
    if (!(options.ridge >= 0 && std::isfinite(options.ridge)))
        fail_usage(fmt::format("ridge {} is not a number from 0 on", options.ridge),
                   "give 1e-6, for example");
    require_pairs(structure, pairs.x, pairs.y);
    LinearEstimator estimator(structure);
    if (options.remove_mean)
        estimator.offset_.resize(structure.cols() / estimator.structure_.repeat());
    for (const Block& b : estimator.structure_.diagonal()) {
        const PairTable table{estimator.structure_, b, pairs.x, pairs.y};
        const std::vector<double> mean =
            options.remove_mean ? table.mean() : std::vector<double>(table.cols(), 0.0);
        const Matrix<double> covariance = table.covariance(mean, pool);
        const Eigen::Map<const RowMajor> c(covariance.data(), b.rows, b.rows + b.cols);
        RowMajor yy = c.leftCols(b.rows);
        const double power = yy.trace() / static_cast<double>(b.rows);
        RowMajor solved = RowMajor::Zero(b.rows, b.cols);  // C_yy^-1 C_yx = M^T
        if (power > 0) {
            yy.diagonal().array() += options.ridge * power;
            solved = factorise(yy, options.ridge).solve(c.rightCols(b.cols));
        }
        float* values = estimator.values_.data() + b.first_link;
        for (std::size_t j = 0; j < b.cols; ++j) {
            double shift = mean[b.rows + j];
            for (std::size_t i = 0; i < b.rows; ++i) {
                const double entry = solved(i, j);
                values[j * b.rows + i] = static_cast<float>(entry);
                shift -= entry * mean[i];
            }
            if (options.remove_mean) estimator.offset_[b.col + j] = static_cast<float>(shift);
        }
        if (structure.is_complex()) pair_parts(b, {values, b.links()});
    }
    return estimator;
}

LinearEstimator LinearEstimator::from_prior(const Operator& op, double noise_std,
                                            ThreadPool& pool) {
    if (!(noise_std >= 0 && std::isfinite(noise_std)))
        fail_usage(fmt::format("noise_std {} is not a number from 0 on", noise_std),
                   "give 0 for no noise");
    LinearEstimator estimator(op.structure());
    const Structure& s = estimator.structure_;
    const Matrix<float> full =
        op.structure().kind() == StructureKind::mask ? op.to_dense() : Matrix<float>();
    pool.run(s.diagonal().size(), [&](std::size_t k) {
        const Block& b = s.diagonal()[k];
        RowMajor columns(b.cols, b.rows);  // A^T of the block
        for (std::size_t j = 0; j < b.cols; ++j)
            for (std::size_t i = 0; i < b.rows; ++i)
                columns(j, i) =
                    full.size() > 0 ? full(i, j) : op.values()[b.first_link + j * b.rows + i];
        // (A^T A + s^2 I)^-1 A^T is the same matrix; the smaller of the two is factorised.
        const bool wide = b.rows <= b.cols;
        RowMajor normal = wide ? RowMajor(columns.transpose() * columns)
                               : RowMajor(columns * columns.transpose());
        const double power = normal.trace() / static_cast<double>(normal.rows());
        if (power == 0) return;  // a block of zeros tells nothing: M stays zero
        normal.diagonal().array() += std::max(noise_std * noise_std, kSmallestShift * power);
        const Eigen::LLT<RowMajor> factor(normal);
        ensure(factor.info() == Eigen::Success, "a shifted normal matrix is not positive definite");
        const RowMajor estimate = wide ? RowMajor(factor.solve(columns.transpose()).transpose())
                                       : RowMajor(factor.solve(columns));
        for (std::size_t l = 0; l < b.rows * b.cols; ++l)
            estimator.values_[b.first_link + l] = static_cast<float>(estimate.data()[l]);
        if (s.is_complex())
            pair_parts(b, std::span(estimator.values_).subspan(b.first_link, b.links()));
    });
    return estimator;
}

LinearEstimator LinearEstimator::rounded_to_int8() const {
    LinearEstimator rounded = *this;
    rounded.scales_ = 0;
    for (const Block& b : structure_.diagonal())
        for (std::size_t j = 0; j < b.cols; ++j) {
            const auto row = std::span(rounded.values_).subspan(b.first_link + j * b.rows, b.rows);
            float largest = 0;
            for (const float v : row) largest = std::max(largest, std::abs(v));
            const float scale = largest / 127;
            // A row of zeros, or of numbers too small for a scale, has one level: zero.
            for (float& v : row) v = scale > 0 ? scale * std::round(v / scale) : 0.0F;
            ++rounded.scales_;
        }
    return rounded;
}

std::size_t LinearEstimator::stored_bits() const {
    const std::size_t scales = structure_.is_complex() ? scales_ / 2 : scales_;
    return (scales_ > 0 ? 8 : 32) * structure_.shared_links() + 32 * (scales + offset_.size());
}

Batch LinearEstimator::recover(ConstBatchView y, ThreadPool& pool) const {
    require_measurements(structure_, y);
    Batch packed;
    if (!y.contiguous()) {  // repetitions fold into rows only where there are no gaps
        packed = Batch(y.rows, y.cols);
        for (std::size_t i = 0; i < y.rows; ++i)
            std::copy_n(y.row(i).begin(), y.cols, packed.row(i).begin());
        y = packed;
    }
    Batch x(y.rows, structure_.cols());
    adjoint_links<float>(structure_, values_, y, x, pool);
    if (!offset_.empty())
        for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] += offset_[i % offset_.size()];
    return x;
}

}  // namespace pibinn
