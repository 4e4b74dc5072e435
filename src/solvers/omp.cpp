#include "pibinn/omp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "algebra/products.hpp"
#include "pibinn/error.hpp"
#include "solvers/checks.hpp"
#include "solvers/columns.hpp"
#include "solvers/group_layout.hpp"
#include "solvers/pursuit.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kProblemsPerTask = 64;

// The Gram costs m n^2 once and saves m n per column: at n = 2048 it takes 32 MiB and well under a
// second of one core, which a few dozen signals pay back.
constexpr std::size_t kWidestGram = 2048;

Matrix<double> gram_of(const Structure& s, std::span<const double> values, ThreadPool& pool) {
    Matrix<double> gram(s.cols(), s.cols());
    pool.run_chunks(
        s.cols(), kProblemsPerTask, [&](std::size_t, std::size_t begin, std::size_t end) {
            Matrix<double> columns(end - begin, s.rows());
            for (std::size_t j = begin; j < end; ++j)
                scatter_column(s.parts().front(), values, j, columns.row(j - begin));
            adjoint_links<double>(s, values, columns, gram.view().row_range(begin, end), pool);
        });
    return gram;
}

void check(const OmpOptions& o) {
    if (!(o.tolerance >= 0))
        fail_usage(fmt::format("tolerance {} is negative", o.tolerance),
                   "give 0 to stop at the sparsity or the noise alone");
    if (!(o.noise_std >= 0 && std::isfinite(o.noise_std)))
        fail_usage(fmt::format("OmpOptions::noise_std {} is not a number from 0 on", o.noise_std),
                   "give the deviation of the noise, 0 for none");
}

}  // namespace

OmpSolver::OmpSolver(const Operator& op, ThreadPool& pool, const Grouping& grouping)
    : structure_(op.structure()), grouping_(grouping) {
    require_grouping(structure_, grouping);
    for (const Block& b : structure_.parts()) {
        const auto links = op.values().subspan(b.first_link, b.links());
        UnitColumns block{b.row,
                          b.col,
                          b.full() ? Structure::dense(b.rows, b.cols) : structure_,
                          {links.begin(), links.end()},
                          {},
                          {}};
        for (std::size_t j = 0; j < b.cols; ++j) {
            const std::size_t begin = b.column_begin(j);
            const auto column =
                std::span(block.values).subspan(begin, b.column_begin(j + 1) - begin);
            const double norm = std::sqrt(dot(column, column));
            block.inverse_norm.push_back(norm > 0 ? 1 / norm : 0);
            for (double& v : column) v *= block.inverse_norm.back();
        }
        blocks_.push_back(std::move(block));
    }
    pool.run(blocks_.size(), [&](std::size_t i) {
        UnitColumns& block = blocks_[i];
        if (block.shape.cols() <= kWidestGram)
            block.gram = gram_of(block.shape, block.values, pool);
    });
}

void OmpSolver::for_each_block(
    ConstBatchView y, ThreadPool& pool,
    const std::function<void(Pursuit&, std::size_t, std::size_t)>& visit) const {
    const std::size_t u = structure_.repeat();
    const std::size_t m = structure_.rows() / u;
    const std::size_t n = structure_.cols() / u;
    const std::size_t rows_per_task = std::max<std::size_t>(1, kProblemsPerTask / u);
    pool.run_chunks(y.rows, rows_per_task, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (const UnitColumns& block : blocks_) {
            // One problem per repetition: N x (u n) read as (N u) x n.
            const std::size_t first = begin * u, last = end * u;
            Matrix<double> measured(last - first, block.shape.rows());
            Matrix<double> correlations(last - first, block.shape.cols());
            for (std::size_t i = first; i < last; ++i)
                std::copy_n(y.row(i / u).begin() + (i % u) * m + block.row, block.shape.rows(),
                            measured.row(i - first).begin());
            adjoint_links<double>(block.shape, block.values, measured, correlations, pool);
            const std::size_t rows = grouping_.rows;
            Pursuit pursuit(block, grouping_, n, pool);
            for (std::size_t i = first; i < last; i += rows) {
                const std::size_t at = i - first;
                pursuit.start(measured.view().row_range(at, at + rows),
                              correlations.view().row_range(at, at + rows));
                visit(pursuit, i / u, (i % u) * n + block.col);
            }
        }
    });
}

Solution OmpSolver::solve(ConstBatchView y, const OmpOptions& options, ThreadPool& pool) const {
    check(options);
    require_measurements(structure_, y);
    Solution solution{Batch(y.rows, structure_.cols()), {}};
    std::vector<std::uint32_t> groups(y.rows);
    std::vector<std::uint8_t> met(y.rows, 1);
    for_each_block(y, pool, [&](Pursuit& p, std::size_t i, std::size_t first) {
        const std::size_t limit =
            options.sparsity > 0 ? std::min(options.sparsity, p.most_groups()) : p.most_groups();
        const double goal = p.goal(options.tolerance, options.noise_std);
        while (p.residual() > goal && p.groups() < limit && p.step()) {
        }
        p.write(solution.x.row(i).subspan(first));
        if (p.residual() > goal) met[i] = 0;
        groups[i] += static_cast<std::uint32_t>(p.groups());
    });
    const auto converged = static_cast<std::size_t>(std::count(met.begin(), met.end(), 1));
    solution.info = SolveInfo::of(groups, converged);
    return solution;
}

Batch OmpSolver::fit_support(ConstBatchView x, ConstBatchView y, ThreadPool& pool) const {
    require_pairs(structure_, x, y);
    Batch fitted(x.rows, x.cols);
    for_each_block(y, pool, [&](Pursuit& p, std::size_t i, std::size_t first) {
        const auto truth = x.row(i).subspan(first);
        p.layout().for_each([&](std::size_t j) {
            if (p.groups() < p.most_groups() && p.layout().energy(truth, j) > 0) p.take_group(j);
        });
        p.write(fitted.row(i).subspan(first));
    });
    return fitted;
}

Solution solve_omp(const Operator& op, ConstBatchView y, const OmpOptions& options,
                   ThreadPool& pool, const Grouping& grouping) {
    return OmpSolver(op, pool, grouping).solve(y, options, pool);
}

}  // namespace pibinn
