#include "pibinn/lasso.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "solvers/checks.hpp"
#include "solvers/group_layout.hpp"

namespace pibinn {

namespace {

/// Signals per task: they depend on the shape alone, so that results never depend on the number of
/// threads, and are few enough for the buffers of a task to stay in the cache.
std::size_t rows_per_task(const Operator& op) {
    return std::clamp<std::size_t>(65536 / std::max<std::size_t>(op.cols(), 1), 1, 128);
}

void check(const LassoOptions& o) {
    if (!(o.lambda >= 0 && std::isfinite(o.lambda)))
        fail_usage(fmt::format("lambda {} is not a number from 0 on", o.lambda),
                   "give 0.01 of max|A^T y|, for example");
    if (!(o.continuation >= 0 && o.continuation < 1))
        fail_usage(fmt::format("continuation factor {} is not in [0, 1)", o.continuation),
                   "give 0 for none, 0.8 for example otherwise");
    if (o.max_iterations == 0 || o.max_iterations > std::numeric_limits<std::uint32_t>::max())
        fail_usage(fmt::format("{} iterations", o.max_iterations), "give at least one");
    if (!(o.tolerance >= 0))
        fail_usage(fmt::format("tolerance {} is negative", o.tolerance),
                   "give 0 to run all iterations");
    if (!(o.squared_norm >= 0 && std::isfinite(o.squared_norm)))
        fail_usage(fmt::format("squared norm {} of the operator is not a number from 0 on",
                               o.squared_norm),
                   "give the squared norm of the operator, or 0 to compute it");
}

/// The signals of one task that are not done yet, moved together at the front of the buffers.
class ActiveSignals {
public:
    ActiveSignals(const Operator& op, ConstBatchView y, double squared_norm,
                  const LassoOptions& options, ThreadPool& pool)
        : op_(op),
          options_(options),
          groups_(group_layout(op.structure(), options.grouping)),
          step_(squared_norm > 0 ? 1.0 / squared_norm : 0.0),
          pool_(pool),
          y_(y.rows, op.rows()),
          r_(y.rows, op.rows()),
          x_(y.rows, op.cols()),
          v_(y.rows, op.cols()),
          g_(y.rows, op.cols()),
          signals_(y.rows) {
        for (std::size_t i = 0; i < y.rows; ++i)
            std::copy_n(y.row(i).begin(), y.cols, y_.row(i).begin());
        op_.adjoint(y_, g_, pool_);
        for (std::size_t i = 0; i < y.rows; ++i) {
            Signal& s = signals_[i];
            s.row = i;
            groups_.for_each([&](std::size_t first) {
                s.top = std::max(s.top, std::sqrt(groups_.energy(g_.row(i), first)));
            });
            s.final_lambda =
                options.unit == LambdaUnit::relative ? options.lambda * s.top : options.lambda;
            s.lambda = options.continuation > 0 ? std::max(s.top, s.final_lambda) : s.final_lambda;
        }
    }

    /// Solves all signals; returns how many converged.
    std::size_t solve(BatchView x, std::span<std::uint32_t> iterations) {
        std::size_t converged = 0;
        for (std::uint32_t k = 1; k <= options_.max_iterations && !signals_.empty(); ++k) {
            step();
            for (std::size_t i = signals_.size(); i-- > 0;) {
                if (!signals_[i].done && k < options_.max_iterations) continue;
                converged += signals_[i].done ? 1 : 0;
                iterations[signals_[i].row] = k;
                std::copy_n(x_.row(i).begin(), x.cols, x.row(signals_[i].row).begin());
                retire(i);
            }
        }
        return converged;
    }

private:
    struct Signal {
        std::size_t row = 0;  ///< in the task's batch
        double top = 0;       ///< max|A^T y| over the groups
        double final_lambda = 0;
        double lambda = 0;
        double t = 1;  ///< of FISTA's momentum
        bool done = false;
    };

    /// One iteration of every active signal: g = A^T (A v - y), x = soft(v - step g, step lambda).
    void step() {
        const std::size_t count = signals_.size();
        op_.apply(v_.view().row_range(0, count), r_.view().row_range(0, count), pool_);
        for (std::size_t i = 0; i < count * op_.rows(); ++i) r_.data()[i] -= y_.data()[i];
        op_.adjoint(r_.view().row_range(0, count), g_.view().row_range(0, count), pool_);
        for (std::size_t i = 0; i < count; ++i) advance(i);
    }

    void advance(std::size_t i) {
        Signal& s = signals_[i];
        if (s.lambda > s.final_lambda)
            s.lambda = std::max(s.final_lambda, s.lambda * options_.continuation);
        const float step = static_cast<float>(step_);
        const float theta = static_cast<float>(step_ * s.lambda);
        const auto x = x_.row(i);
        const auto v = v_.row(i);
        const auto g = g_.row(i);
        double moved = 0;
        double norm = 0;
        double uphill = 0;
        const auto take = [&](std::size_t j, float next) {
            const double jump = double{next} - double{v[j]};
            moved += jump * jump;
            norm += double{next} * double{next};
            uphill -= jump * (double{next} - double{x[j]});
            g[j] = x[j];  // no longer needed: keeps the previous x for the momentum
            x[j] = next;
        };
        if (groups_.trivial()) {
            for (std::size_t j = 0; j < x.size(); ++j) {
                const float z = v[j] - step * g[j];
                take(j, z - std::clamp(z, -theta, theta));
            }
        } else {
            for (std::size_t j = 0; j < x.size(); ++j) g[j] = v[j] - step * g[j];
            groups_.for_each([&](std::size_t first) {
                const double norm_of = std::sqrt(groups_.energy(g, first));
                const auto keep =
                    static_cast<float>(norm_of > theta ? 1 - double{theta} / norm_of : 0);
                groups_.for_entries(first, [&](std::size_t j) { take(j, keep * g[j]); });
            });
        }
        // Convergence is judged by the step from v, which is zero at the optimum only. The change
        // of an oscillating x may pass through zero before.
        const double tolerance = options_.tolerance;
        s.done = s.lambda == s.final_lambda && moved <= tolerance * tolerance * norm;

        float beta = 0;
        if (options_.method == LassoMethod::fista) {
            if (options_.restart && uphill > 0) s.t = 1;
            const double next_t = 0.5 * (1 + std::sqrt(1 + 4 * s.t * s.t));
            beta = static_cast<float>((s.t - 1) / next_t);
            s.t = next_t;
        }
        for (std::size_t j = 0; j < x.size(); ++j) v[j] = x[j] + beta * (x[j] - g[j]);
    }

    /// Puts the last active signal in the place of signal i.
    void retire(std::size_t i) {
        const std::size_t last = signals_.size() - 1;
        if (i != last) {
            std::copy_n(y_.row(last).begin(), y_.cols(), y_.row(i).begin());
            std::copy_n(x_.row(last).begin(), x_.cols(), x_.row(i).begin());
            std::copy_n(v_.row(last).begin(), v_.cols(), v_.row(i).begin());
            signals_[i] = signals_[last];
        }
        signals_.pop_back();
    }

    const Operator& op_;
    const LassoOptions& options_;
    GroupLayout groups_;
    double step_;
    ThreadPool& pool_;
    Batch y_, r_, x_, v_, g_;
    std::vector<Signal> signals_;
};

Solution solve(const Operator& op, double squared_norm, ConstBatchView y,
               const LassoOptions& options, ThreadPool& pool) {
    Solution solution{Batch(y.rows, op.cols()), {}};
    std::vector<std::uint32_t> iterations(y.rows);
    const double converged =
        pool.sum_chunks(y.rows, rows_per_task(op), [&](std::size_t begin, std::size_t end) {
            ActiveSignals active(op, y.row_range(begin, end), squared_norm, options, pool);
            return static_cast<double>(
                active.solve(solution.x.view().row_range(begin, end),
                             std::span(iterations).subspan(begin, end - begin)));
        });
    solution.info = SolveInfo::of(iterations, static_cast<std::size_t>(converged));
    return solution;
}

}  // namespace

Solution solve_lasso(const Operator& op, ConstBatchView y, const LassoOptions& options,
                     ThreadPool& pool) {
    check(options);
    require_grouping(op.structure(), options.grouping);
    require_measurements(op.structure(), y);
    const double squared_norm = options.squared_norm > 0 ? options.squared_norm : op.squared_norm();
    return solve(op, squared_norm, y, options, pool);
}

LambdaChoice best_lambda(const Operator& op, const DataSet& pairs,
                         std::span<const double> candidates, LassoOptions options,
                         ThreadPool& pool) {
    if (candidates.empty()) fail_usage("no lambda to choose from", "give at least one candidate");
    require_grouping(op.structure(), options.grouping);
    require_pairs(op.structure(), pairs.x, pairs.y);
    const double squared_norm = op.squared_norm();
    LambdaChoice best{0, std::numeric_limits<double>::infinity()};
    for (double lambda : candidates) {
        options.lambda = lambda;
        check(options);
        const Solution solution = solve(op, squared_norm, pairs.y, options, pool);
        const double nmse_db = mean_nmse_db(pairs.x, solution.x);
        if (nmse_db < best.nmse_db) best = {lambda, nmse_db};
    }
    return best;
}

}  // namespace pibinn
