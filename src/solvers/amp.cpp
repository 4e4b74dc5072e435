#include "pibinn/amp.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "solvers/amp_shrink.hpp"
#include "solvers/checks.hpp"
#include "solvers/group_layout.hpp"

namespace pibinn {

namespace {

// Residuals of a working recovery shrink from the first step on; by this factor (squared) they have
// grown beyond doubt.
constexpr double kDiverged = 2;
constexpr double kLeastDamping = 1.0 / 16;
// Squared, of y: what float32 cannot tell from zero.
constexpr double kRoundingEnergy = 1e-14;

std::size_t problems_per_task(const Operator& op) {
    return std::clamp<std::size_t>(65536 / std::max<std::size_t>(op.cols(), 1), 1, 128);
}

void check(const AmpOptions& o) {
    const auto refuse = [](const char* field, double value, const char* hint) {
        fail_usage(fmt::format("{} {} makes no sense", field, value), hint);
    };
    if (!(o.alpha >= 0 && std::isfinite(o.alpha)))
        refuse("AmpOptions::alpha", o.alpha, "give a number from 0 on, such as 1.4");
    if (!(o.prior.density > 0 && o.prior.density <= 1))
        refuse("BernoulliGaussian::density", o.prior.density, "give a share above 0, at most 1");
    if (!(o.prior.variance > 0 && std::isfinite(o.prior.variance)))
        refuse("BernoulliGaussian::variance", o.prior.variance, "give a number above 0");
    if (!(o.noise_std >= 0 && std::isfinite(o.noise_std)))
        refuse("AmpOptions::noise_std", o.noise_std, "give a number from 0 on, 0 if unknown");
    if (!(o.damping > 0 && o.damping <= 1))
        refuse("AmpOptions::damping", o.damping, "give 1 for full steps, less for shorter ones");
    if (o.max_iterations == 0 || o.max_iterations > std::numeric_limits<std::uint32_t>::max() / 8)
        refuse("AmpOptions::max_iterations", static_cast<double>(o.max_iterations),
               "give at least one");
    if (!(o.tolerance >= 0))
        refuse("AmpOptions::tolerance", o.tolerance, "give 0 to run all iterations");
}

double mean_square(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * double{v};
    return sum / static_cast<double>(values.size());
}

/// How the recovery of one block of one signal ended, in one set of repetitions.
struct Outcome {
    std::uint32_t iterations = 0;
    bool converged = false;
    bool damped = false;
};

/// The problems of one task that are not done yet, moved together at the front of the buffers.
class ActiveProblems {
public:
    /// `y` holds one problem per `grouping.rows` rows; `variance` is that of each entry of a unit
    /// column.
    ActiveProblems(const Operator& op, Batch y, std::span<const double> variance,
                   const Grouping& grouping, const AmpOptions& options, ThreadPool& pool)
        : op_(op),
          options_(options),
          groups_(op.cols(), op.cols(), 1, grouping),
          rows_(grouping.rows),
          variance_(variance),
          pool_(pool),
          y_(std::move(y)),
          r_(y_),
          x_(y_.rows(), op.cols()),
          v_(y_.rows(), op.cols()),
          ax_(y_.rows(), op.rows()),
          problems_(y_.rows() / rows_) {
        for (std::size_t i = 0; i < problems_.size(); ++i) {
            problems_[i].place = i;
            problems_[i].power = problems_[i].residual = mean_square(own(y_, i));
            problems_[i].damping = options.damping;
        }
    }

    void solve(BatchView x, std::span<Outcome> outcomes) {
        retire_done(x, outcomes);
        while (!problems_.empty()) {
            const std::size_t count = problems_.size(), rows = count * rows_;
            op_.adjoint(r_.view().row_range(0, rows), v_.view().row_range(0, rows), pool_);
            for (std::size_t i = 0; i < count; ++i) estimate(i);
            op_.apply(x_.view().row_range(0, rows), ax_.view().row_range(0, rows), pool_);
            for (std::size_t i = 0; i < count; ++i) update_residual(i);
            retire_done(x, outcomes);
        }
    }

private:
    struct Recovery {
        std::size_t place = 0;  ///< in the task's batch
        double power = 0;       ///< mean of y^2
        double residual = 0;    ///< mean of r^2
        double damping = 1;
        double onsager = 0;
        std::size_t attempt = 0;  ///< iterations since it last started again
        Outcome outcome;
        bool done = false;
    };

    /// The rows of one problem, which stand behind each other.
    std::span<float> own(Batch& batch, std::size_t i) const {
        const std::size_t numbers = rows_ * batch.cols();
        return {batch.data() + i * numbers, numbers};
    }

    /// x moves towards shrink(x + A^T r); v_ holds A^T r.
    void estimate(std::size_t i) {
        Recovery& s = problems_[i];
        const double tau_squared = std::max(s.residual, options_.noise_std * options_.noise_std);
        if (!groups_.trivial()) {
            estimate_groups(i, tau_squared);
        } else if (options_.shrink == AmpShrink::soft) {
            const double threshold = options_.alpha * std::sqrt(tau_squared);
            move(i, [&](double v, std::size_t) { return soft_shrink(v, threshold); });
        } else {
            const PosteriorMean mean(options_.prior.density, tau_squared);
            move(i, [&](double v, std::size_t j) { return mean(v, variance_[j]); });
        }
    }

    template <class Shrink>
    void move(std::size_t i, const Shrink& shrink) {
        const auto x = own(x_, i);
        const auto v = own(v_, i);
        Move move{problems_[i].damping, x};
        for (std::size_t j = 0; j < x.size(); ++j) {
            const Shrunk shrunk = shrink(double{x[j]} + double{v[j]}, j);
            move.slope += shrunk.slope;
            move.towards(j, shrunk.value);
        }
        finish(i, move);
    }

    void estimate_groups(std::size_t i, double tau_squared) {
        const auto x = own(x_, i);
        const auto v = own(v_, i);
        for (std::size_t j = 0; j < x.size(); ++j) v[j] += x[j];
        const auto size = static_cast<double>(groups_.size());
        const double threshold = options_.alpha * std::sqrt(size * tau_squared);
        const PosteriorMean mean(options_.prior.density, tau_squared);
        const bool soft = options_.shrink == AmpShrink::soft;
        Move move{problems_[i].damping, x};
        groups_.for_each([&](std::size_t first) {
            const double energy = groups_.energy(v, first);
            const ShrunkGroup shrunk = soft ? soft_shrink_group(std::sqrt(energy), threshold, size)
                                            : mean.of_group(energy, variance_[first], size);
            move.slope += shrunk.divergence;
            groups_.for_entries(
                first, [&](std::size_t j) { move.towards(j, shrunk.keep * double{v[j]}); });
        });
        finish(i, move);
    }

    /// One step of one problem.
    struct Move {
        double damping;
        std::span<float> x;
        double slope = 0, moved = 0, norm = 0;

        void towards(std::size_t j, double value) {
            const double step = value - double{x[j]};
            moved += step * step;
            norm += value * value;
            x[j] = static_cast<float>(double{x[j]} + damping * step);
        }
    };

    void finish(std::size_t i, const Move& move) {
        Recovery& s = problems_[i];
        s.onsager = move.slope / static_cast<double>(op_.rows() * rows_);
        s.outcome.converged = move.moved <= options_.tolerance * options_.tolerance * move.norm;
    }

    void update_residual(std::size_t i) {
        Recovery& s = problems_[i];
        const auto y = own(y_, i), ax = own(ax_, i), r = own(r_, i);
        const auto damping = static_cast<float>(s.damping);
        const auto onsager = static_cast<float>(s.onsager);
        for (std::size_t j = 0; j < r.size(); ++j)
            r[j] += damping * (y[j] - ax[j] + onsager * r[j] - r[j]);
        s.residual = mean_square(r);
        ++s.attempt;
        ++s.outcome.iterations;
        if (!(s.residual <= kDiverged * s.power)) {
            start_again(i);
            return;
        }
        s.outcome.converged |= s.residual <= kRoundingEnergy * s.power;
        s.done = s.outcome.converged || s.attempt == options_.max_iterations;
    }

    void start_again(std::size_t i) {
        Recovery& s = problems_[i];
        std::ranges::fill(own(x_, i), 0.0F);
        std::ranges::copy(own(y_, i), own(r_, i).begin());
        s.residual = s.power;
        s.attempt = 0;
        s.outcome.damped = true;
        s.outcome.converged = false;
        s.damping /= 2;
        s.done = s.damping < kLeastDamping;
    }

    void retire_done(BatchView x, std::span<Outcome> outcomes) {
        for (std::size_t i = problems_.size(); i-- > 0;) {
            Recovery& s = problems_[i];
            if (s.power == 0) s.done = s.outcome.converged = true;
            if (!s.done) continue;
            outcomes[s.place] = s.outcome;
            for (std::size_t r = 0; r < rows_; ++r)
                std::ranges::copy(x_.row(i * rows_ + r), x.row(s.place * rows_ + r).begin());
            retire(i);
        }
    }

    /// Puts the last active problem in the place of problem i.
    void retire(std::size_t i) {
        const std::size_t last = problems_.size() - 1;
        if (i != last) {
            for (Batch* batch : {&y_, &r_, &x_})
                std::ranges::copy(own(*batch, last), own(*batch, i).begin());
            problems_[i] = problems_[last];
        }
        problems_.pop_back();
    }

    const Operator& op_;
    const AmpOptions& options_;
    GroupLayout groups_;
    std::size_t rows_;
    std::span<const double> variance_;
    ThreadPool& pool_;
    Batch y_, r_, x_, v_, ax_;
    std::vector<Recovery> problems_;
};

}  // namespace

BernoulliGaussian BernoulliGaussian::of(ConstBatchView x) {
    return of(x, Structure::dense(1, x.cols), {});
}

BernoulliGaussian BernoulliGaussian::of(ConstBatchView x, const Structure& structure,
                                        const Grouping& grouping) {
    const GroupLayout layout = group_layout(structure, grouping);
    double nonzero = 0, second = 0, fourth = 0;
    for (std::size_t i = 0; i < x.rows; ++i)
        layout.for_each([&](std::size_t first) {
            const double square = layout.energy(x.row(i), first);
            nonzero += square > 0 ? 1 : 0;
            second += square;
            fourth += square * square;
        });
    const auto size = static_cast<double>(layout.size());
    const auto groups = static_cast<double>(x.rows * x.cols) / size;
    if (second == 0)
        fail_input(fmt::format("all {} training signals are zero", x.rows),
                   "give signals that are not zero");
    if (nonzero <= 0.5 * groups) return {nonzero / groups, second / nonzero / size};
    // Of groups of s entries: E|x|^2 = density s variance and E|x|^4 = density s (s + 2)
    // variance^2.
    const double density = std::min(1.0, (size + 2) / size * second / groups * (second / fourth));
    return {density, second / groups / density / size};
}

AmpSolver::AmpSolver(const Operator& op, const Grouping& grouping)
    : structure_(op.structure()), grouping_(grouping) {
    require_grouping(structure_, grouping);
    for (const Block& b : structure_.parts()) {
        const auto links = op.values().subspan(b.first_link, b.links());
        AlignedBuffer<float> values(links.begin(), links.end());
        std::vector<double> norms;
        for (std::size_t j = 0; j < b.cols; ++j) {
            const std::size_t begin = b.column_begin(j);
            const auto column = std::span(values).subspan(begin, b.column_begin(j + 1) - begin);
            double energy = 0;
            for (const float v : column) energy += double{v} * double{v};
            norms.push_back(std::sqrt(energy));
            if (energy > 0)
                for (float& v : column) v = static_cast<float>(double{v} / norms.back());
        }
        Structure shape = b.full() ? Structure::dense(b.rows, b.cols) : structure_;
        blocks_.push_back(
            {b.row, b.col, Operator(std::move(shape), std::move(values)), std::move(norms)});
    }
}

Solution AmpSolver::solve(ConstBatchView y, const AmpOptions& options, ThreadPool& pool) const {
    check(options);
    require_measurements(structure_, y);
    const std::size_t u = structure_.repeat();
    const std::size_t m = structure_.rows() / u;
    const std::size_t n = structure_.cols() / u;
    const std::size_t rows = grouping_.rows, sets = u / rows;
    Solution solution{Batch(y.rows, structure_.cols()), {}};
    // Of each set of repetitions of a signal, over its blocks.
    std::vector<Outcome> worst(y.rows * sets, {0, true, false});
    for (const UnitColumns& block : blocks_) {
        std::vector<double> variance;
        for (const double norm : block.norm)
            variance.push_back(options.prior.variance * norm * norm);
        // One problem per set of repetitions: N x (u n) read as (N u) x n.
        pool.run_chunks(
            y.rows * sets, problems_per_task(block.op),
            [&](std::size_t, std::size_t begin, std::size_t end) {
                Batch measured((end - begin) * rows, block.op.rows());
                for (std::size_t i = begin * rows; i < end * rows; ++i)
                    std::copy_n(y.row(i / u).begin() + (i % u) * m + block.row, block.op.rows(),
                                measured.row(i - begin * rows).begin());
                Batch x((end - begin) * rows, block.op.cols());
                std::vector<Outcome> outcomes(end - begin);
                ActiveProblems(block.op, std::move(measured), variance, grouping_, options, pool)
                    .solve(x, outcomes);
                for (std::size_t i = begin * rows; i < end * rows; ++i) {
                    const auto out = solution.x.row(i / u).subspan((i % u) * n + block.col);
                    for (std::size_t j = 0; j < x.cols(); ++j)
                        if (block.norm[j] > 0)
                            out[j] =
                                static_cast<float>(double{x(i - begin * rows, j)} / block.norm[j]);
                }
                for (std::size_t i = begin; i < end; ++i) {
                    const Outcome& o = outcomes[i - begin];
                    worst[i].iterations = std::max(worst[i].iterations, o.iterations);
                    worst[i].converged &= o.converged;
                    worst[i].damped |= o.damped;
                }
            });
    }
    std::vector<std::uint32_t> iterations(y.rows);
    std::size_t converged = 0, damped = 0;
    for (std::size_t i = 0; i < y.rows; ++i) {
        Outcome signal{0, true, false};
        for (std::size_t k = i * sets; k < (i + 1) * sets; ++k) {
            signal.iterations = std::max(signal.iterations, worst[k].iterations);
            signal.converged &= worst[k].converged;
            signal.damped |= worst[k].damped;
        }
        iterations[i] = signal.iterations;
        converged += signal.converged ? 1 : 0;
        damped += signal.damped ? 1 : 0;
    }
    solution.info = SolveInfo::of(iterations, converged);
    solution.info.damped = damped;
    return solution;
}

Solution solve_amp(const Operator& op, ConstBatchView y, const AmpOptions& options,
                   ThreadPool& pool, const Grouping& grouping) {
    return AmpSolver(op, grouping).solve(y, options, pool);
}

AmpChoice best_amp(const AmpSolver& solver, const DataSet& pairs, AmpOptions options,
                   ThreadPool& pool) {
    std::vector<double> alphas{options.alpha};
    if (options.shrink == AmpShrink::soft) alphas = {0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.1, 2.5};
    AmpChoice best{options, std::numeric_limits<double>::infinity()};
    bool damped = false;
    for (const double damping : {options.damping, options.damping / 2, options.damping / 4}) {
        for (const double alpha : alphas) {
            options.alpha = alpha;
            options.damping = damping;
            const Solution solution = solver.solve(pairs.y, options, pool);
            damped |= solution.info.damped > 0;
            const double nmse_db = mean_nmse_db(pairs.x, solution.x);
            if (nmse_db < best.nmse_db) best = {options, nmse_db};
        }
        if (!damped) break;
    }
    return best;
}

}  // namespace pibinn
