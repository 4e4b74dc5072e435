#include "pibinn/support_detection.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "algebra/products.hpp"
#include "pibinn/error.hpp"
#include "solvers/checks.hpp"
#include "solvers/columns.hpp"
#include "solvers/group_layout.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kChannelsPerTask = 64;
// The Gram of a wider operator takes more than half a gigabyte.
constexpr std::size_t kMostBeams = 8192;
constexpr std::array<std::size_t, 17> kWidths{1,  2,  3,  4,  5,  6,  7,  8, 9,
                                              10, 11, 12, 13, 14, 16, 20, 24};

}  // namespace

/// What one channel needs: everything has a column per beam part and a row per repetition.
struct SupportDetection::Workspace {
    Matrix<double> measured;  ///< A^T y
    Matrix<double> left;      ///< A^T r
    std::vector<std::size_t> columns;
    Eigen::MatrixXd gram, right;  ///< of these columns
    std::vector<bool> taken;      ///< beams
};

SupportDetection::SupportDetection(const Operator& op, const Grouping& grouping, ThreadPool& pool)
    : structure_(op.structure()), grouping_(grouping) {
    require_grouping(structure_, grouping);
    if (structure_.parts().size() != 1 || grouping.rows != structure_.repeat())
        fail_usage("support detection sees one channel per row",
                   "give an operator of one block, and groups of all its repetitions");
    const Block& b = structure_.parts()[0];
    if (b.cols > kMostBeams)
        fail_usage(fmt::format("support detection among {} beams", b.cols / grouping.halves),
                   fmt::format("give at most {}", kMostBeams / grouping.halves));
    beams_ = b.cols / grouping.halves;
    values_.assign(op.values().begin(), op.values().end());
    const Structure shape = b.full() ? Structure::dense(b.rows, b.cols) : structure_;
    Matrix<double> columns(b.cols, b.rows);
    for (std::size_t j = 0; j < b.cols; ++j) scatter_column(b, values_, j, columns.row(j));
    gram_ = Matrix<double>(b.cols, b.cols);
    adjoint_links<double>(shape, values_, columns, gram_, pool);
}

std::size_t SupportDetection::most_width(std::size_t paths) const {
    const std::size_t rows = structure_.rows() / structure_.repeat();
    return std::min(beams_, rows / std::max<std::size_t>(1, paths * grouping_.halves));
}

void SupportDetection::require(const SupportDetectionOptions& o) const {
    if (o.paths == 0 || o.width == 0)
        fail_usage(fmt::format("support detection of {} paths of {} beams", o.paths, o.width),
                   "give at least one of each");
    if (o.width > most_width(o.paths))
        fail_usage(fmt::format("{} paths of {} beams are more than {} measurements can tell apart",
                               o.paths, o.width, structure_.rows() / grouping_.size()),
                   most_width(o.paths) > 0
                       ? fmt::format("give at most {} beams per path", most_width(o.paths))
                       : "give fewer paths");
}

/// Least squares of the work's columns by their Gram; work.right receives the coefficients.
void SupportDetection::fit(Workspace& work, const Matrix<double>& correlations) const {
    const auto count = static_cast<Eigen::Index>(work.columns.size());
    const auto rows = static_cast<Eigen::Index>(correlations.rows());
    work.gram.resize(count, count);
    work.right.resize(count, rows);
    for (Eigen::Index a = 0; a < count; ++a) {
        const std::size_t column = work.columns[static_cast<std::size_t>(a)];
        for (Eigen::Index b = 0; b < count; ++b)
            work.gram(a, b) = gram_(column, work.columns[static_cast<std::size_t>(b)]);
        for (Eigen::Index r = 0; r < rows; ++r)
            work.right(a, r) = correlations(static_cast<std::size_t>(r), column);
    }
    // Columns that depend on each other share what they explain.
    work.gram.diagonal().array() *= 1 + 1e-12;
    work.right = work.gram.ldlt().solve(work.right).eval();
}

/// Fills work.columns with those of the detected beams.
void SupportDetection::detect(const SupportDetectionOptions& o, Workspace& work) const {
    work.left = work.measured;
    work.taken.assign(beams_, false);
    const auto strength = [&](std::size_t beam) {
        double sum = 0;
        for (std::size_t r = 0; r < work.left.rows(); ++r)
            for (std::size_t h = 0; h < grouping_.halves; ++h) {
                const double c = work.left(r, h * beams_ + beam);
                sum += c * c;
            }
        return sum;
    };
    const auto add_beam = [&](std::size_t beam) {
        for (std::size_t h = 0; h < grouping_.halves; ++h)
            work.columns.push_back(h * beams_ + beam);
    };
    for (std::size_t l = 0; l < o.paths; ++l) {
        std::size_t peak = 0;
        double most = strength(0);
        for (std::size_t j = 1; j < beams_; ++j)
            if (const double own = strength(j); own > most) {
                peak = j;
                most = own;
            }
        work.columns.clear();
        for (std::size_t v = 0; v < o.width; ++v) {
            const std::size_t beam = (peak + beams_ - o.width / 2 + v) % beams_;
            work.taken[beam] = true;
            add_beam(beam);
        }
        fit(work, work.left);
        for (std::size_t c = 0; c < work.columns.size(); ++c)
            for (std::size_t r = 0; r < work.left.rows(); ++r) {
                const double x =
                    work.right(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(r));
                const auto row = work.left.row(r);
                const auto explained = gram_.row(work.columns[c]);
                for (std::size_t j = 0; j < row.size(); ++j) row[j] -= x * explained[j];
            }
    }
    work.columns.clear();
    for (std::size_t j = 0; j < beams_; ++j)
        if (work.taken[j]) add_beam(j);
}

Solution SupportDetection::solve(ConstBatchView y, const SupportDetectionOptions& options,
                                 ThreadPool& pool) const {
    require(options);
    require_measurements(structure_, y);
    const std::size_t rows = grouping_.rows;
    const Block& b = structure_.parts()[0];
    const Structure shape = b.full() ? Structure::dense(b.rows, b.cols) : structure_;
    Solution solution{Batch(y.rows, structure_.cols()), {}};
    pool.run_chunks(y.rows, kChannelsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
        Workspace work;
        work.measured = Matrix<double>(rows, b.cols);
        Matrix<double> measured(rows, b.rows);
        for (std::size_t i = begin; i < end; ++i) {
            std::ranges::copy(y.row(i), measured.data());
            adjoint_links<double>(shape, values_, measured, work.measured, pool);
            detect(options, work);
            fit(work, work.measured);
            const auto x = solution.x.row(i);
            for (std::size_t c = 0; c < work.columns.size(); ++c)
                for (std::size_t r = 0; r < rows; ++r)
                    x[r * b.cols + work.columns[c]] = static_cast<float>(
                        work.right(static_cast<Eigen::Index>(c), static_cast<Eigen::Index>(r)));
        }
    });
    const std::vector<std::uint32_t> paths(y.rows, static_cast<std::uint32_t>(options.paths));
    solution.info = SolveInfo::of(paths, y.rows);
    return solution;
}

SupportDetectionChoice best_width(const SupportDetection& solver, const DataSet& pairs,
                                  std::size_t paths, ThreadPool& pool) {
    solver.require({paths, 1});
    SupportDetectionChoice best{{}, std::numeric_limits<double>::infinity()};
    for (const std::size_t width : kWidths) {
        if (width > solver.most_width(paths)) break;
        const SupportDetectionOptions options{paths, width};
        const double nmse_db = mean_nmse_db(pairs.x, solver.solve(pairs.y, options, pool).x);
        if (nmse_db < best.nmse_db) best = {options, nmse_db};
    }
    return best;
}

}  // namespace pibinn
