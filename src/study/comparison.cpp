#include "study/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pibinn/linear.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/support_detection.hpp"
#include "problem/units.hpp"
#include "study/timing.hpp"

namespace pibinn::study {

namespace {

// Training signals to tune by, and the links they may pass together: 500 signals up to 100 x 250,
// 100 at 250 x 500. Few are enough for one number.
constexpr std::size_t kMostTuning = 500, kLeastTuning = 25;
constexpr double kTuningWork = 1.25e7;
// Test signals that judge solvers, and the products with links that 100 iterations of FISTA may
// take on them: 1000 signals up to 250 x 500 and beyond, 250 at 1000 x 2000. A few seconds.
constexpr std::size_t kLeastJudging = 50;
constexpr double kJudgingWork = 1e11;
// The same for the multiplications of OMP, which are no products of large matrices. Where a single
// signal takes some seconds OMP is left out.
constexpr double kPursuitWork = 5e9, kLongestPursuit = 4e9;
constexpr double kWidestGram = 2048;
// Short, since a dozen methods are timed after every training.
constexpr TimingBudget kBudget{0.02, 1e-3, 3};
// As shares of max|A^T y|, and in units of what noise is in an entry of A^T y.
constexpr std::array kLambdas{0.003, 0.006, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15};
constexpr std::array kNoiseLambdas{0.3, 0.6, 1.0, 1.5, 2.2, 3.0};

DataSet first_pairs(const DataSet& set, std::size_t rows) {
    rows = std::min(rows, set.x.rows());
    DataSet first{Batch(rows, set.x.cols()), Batch(rows, set.y.cols())};
    std::copy_n(set.x.data(), first.x.size(), first.x.data());
    std::copy_n(set.y.data(), first.y.size(), first.y.data());
    return first;
}

/// Links of the whole operator, repetitions included.
double links_of(const Operator& op) {
    const Structure& s = op.structure();
    return static_cast<double>(std::max<std::size_t>(1, s.links() * s.repeat()));
}

/// Multiplications of one signal's pursuits, about: a column costs n per column before it, and the
/// products of a block that is too wide for a Gram.
double pursuit_cost(const Operator& op, const Batch& x) {
    const Structure& s = op.structure();
    const double blocks = static_cast<double>(s.parts().size() * s.repeat());
    const double m = static_cast<double>(s.rows()) / blocks;
    const double n = static_cast<double>(s.cols()) / blocks;
    const auto nonzero = static_cast<double>(
        std::count_if(x.values().begin(), x.values().end(), [](float v) { return v != 0; }));
    const double support =
        nonzero / (blocks * static_cast<double>(std::max<std::size_t>(1, x.rows())));
    const double columns = std::min(m, 1 + 1.5 * support);
    const double links = links_of(op) / blocks;
    return blocks * columns * (columns * n + (n > kWidestGram ? links : 0));
}

std::size_t affordable(double work, double cost, std::size_t least, std::size_t most) {
    const double signals = std::min(work / cost, static_cast<double>(most));
    return std::min(most, std::max(least, static_cast<std::size_t>(signals)));
}

std::string told(const OmpOptions& options) {
    if (options.sparsity > 0) return fmt::format("stops at {} columns", options.sparsity);
    if (options.noise_std > 0)
        return fmt::format("stops at a residual of {:.3g} per measurement", options.noise_std);
    return fmt::format("stops at a residual of {:.3g} of y", options.tolerance);
}

std::string told(const AmpOptions& options) {
    std::string text =
        options.shrink == AmpShrink::soft
            ? fmt::format("alpha {:g}", options.alpha)
            : fmt::format("density {:.3g}, variance {:.3g}, noise {:.3g}", options.prior.density,
                          options.prior.variance, options.noise_std);
    if (options.damping < 1) text += fmt::format(", damping {:g}", options.damping);
    return text;
}

}  // namespace

Grouping groups_of(const Problem& problem) {
    return grouping_of(fit_network(problem, {}).groups, problem.op.structure());
}

nlohmann::ordered_json activity_json(const ActivityErrors& errors) {
    return {{"missed", errors.missed},
            {"false_alarms", errors.false_alarms},
            {"threshold", errors.threshold}};
}

Comparison::Comparison(const Problem& problem, ThreadPool& pool)
    : problem_(problem), grouping_(groups_of(problem)), pool_(pool) {
    tuning_ = first_pairs(problem_.train,
                          affordable(kTuningWork, links_of(problem.op), kLeastTuning, kMostTuning));
    // With noise, explaining the measurements further than the noise goes is fitting noise. How
    // far it goes shows in the training pairs, wherever it came from.
    noise_ = noise_level(problem_.op, tuning_, pool_);
    solver_signals_ = judging_signals(problem_.op, problem_.test.x.rows());
}

std::size_t Comparison::judging_signals(const Operator& op, std::size_t test_signals) {
    return affordable(kJudgingWork, 2 * kManyIterations * links_of(op), kLeastJudging,
                      test_signals);
}

std::size_t Comparison::reference_bits() const { return operator_bits(problem_.op); }

ComparisonRow& Comparison::add(const std::string& method, std::size_t stored_bits,
                               std::size_t signals, const Solve& solve) {
    ComparisonRow row;
    const auto y = problem_.test.y.view().row_range(0, signals);
    row.method = method;
    // What is timed is also what is judged: solvers may take seconds.
    Batch found;
    row.time = time_recovery(
        [&](ConstBatchView part, ThreadPool& pool) {
            Batch x = solve(part, pool);
            if (part.rows == signals) found = std::move(x);
        },
        y, pool_, kBudget);
    const auto truth = problem_.test.x.view().row_range(0, signals);
    row.metrics = measure(truth, found);
    row.activity = activity_of(truth, found);
    row.stored_bits = stored_bits;
    rows_.push_back(std::move(row));
    return rows_.back();
}

std::optional<ActivityErrors> Comparison::activity_of(ConstBatchView truth,
                                                      ConstBatchView found) const {
    if (!problem_.prior || !std::holds_alternative<AccessPrior>(*problem_.prior)) return {};
    return activity_errors(problem_.domain.signal_rows(), truth, found);
}

std::optional<ActivityErrors> Comparison::own_activity() const {
    std::optional<ActivityErrors> own;
    for (const ComparisonRow& row : rows_)
        if (row.ours) own = row.activity;
    return own;
}

void Comparison::add_lasso(LassoMethod method, std::size_t iterations) {
    LassoOptions options;
    options.method = method;
    options.max_iterations = iterations;
    options.tolerance = 0;
    options.grouping = grouping_;
    // Prepared once, as every method prepares what depends on the operator alone.
    options.squared_norm = problem_.op.squared_norm();
    const LambdaChoice relative = best_lambda(problem_.op, tuning_, kLambdas, options, pool_);
    options.lambda = relative.lambda;
    if (noise_.deviation > 0) {
        // Noise is as strong in faint signals as in strong ones: one lambda for all may be better.
        std::vector<double> lambdas;
        for (const double factor : kNoiseLambdas)
            lambdas.push_back(factor * noise_.deviation * column_norm(problem_.op));
        LassoOptions absolute = options;
        absolute.unit = LambdaUnit::absolute;
        const LambdaChoice choice = best_lambda(problem_.op, tuning_, lambdas, absolute, pool_);
        absolute.lambda = choice.lambda;
        if (choice.nmse_db < relative.nmse_db) options = absolute;
    }
    const char* name = method == LassoMethod::ista ? "ISTA" : "FISTA";
    add(fmt::format("{}, {} iterations", name, iterations), reference_bits() + 32, solver_signals_,
        [&](ConstBatchView y, ThreadPool& pool) {
            return solve_lasso(problem_.op, y, options, pool).x;
        })
        .settings = fmt::format("lambda {:.3g}{}", options.lambda,
                                options.unit == LambdaUnit::relative ? " of max|A^T y|" : "");
}

void Comparison::add_omp() {
    const double cost = pursuit_cost(problem_.op, tuning_.x);
    if (cost > kLongestPursuit) return;
    const OmpSolver solver(problem_.op, pool_, grouping_);
    // Tuning follows a pursuit to about twice as many columns.
    const DataSet tuning = first_pairs(
        tuning_, affordable(kPursuitWork / 2, 4 * cost, kLeastTuning, tuning_.x.rows()));
    const OmpChoices choices = solver.best_stops(tuning, noise_, pool_);
    const std::size_t signals = affordable(kPursuitWork, cost, kLeastJudging, solver_signals_);
    const auto add_rule = [&](const char* method, const OmpOptions& options) {
        add(method, reference_bits() + 32, signals, [&](ConstBatchView y, ThreadPool& pool) {
            return solver.solve(y, options, pool).x;
        }).settings = told(options);
    };
    add_rule("OMP", choices.best().options);
    // Who knows the noise need not know how many entries there are, and the other way round.
    if (noise_.deviation > 0 && choices.best().options.sparsity > 0)
        add_rule("OMP, stopped by the noise", choices.by_noise.options);
}

void Comparison::add_amp(AmpShrink shrink, std::size_t iterations) {
    const AmpSolver solver(problem_.op, grouping_);
    AmpOptions options;
    options.shrink = shrink;
    options.max_iterations = iterations;
    const bool soft = shrink == AmpShrink::soft;
    if (!soft) {
        options.prior = BernoulliGaussian::of(tuning_.x, problem_.op.structure(), grouping_);
        options.noise_std = noise_.deviation;
    }
    options = best_amp(solver, tuning_, options, pool_).options;
    // Soft thresholds store alpha; the law of the signals is density, variance and noise.
    add(soft ? "AMP, soft thresholds" : "AMP, Bernoulli-Gaussian",
        reference_bits() + (soft ? 32 : 96), solver_signals_,
        [&](ConstBatchView y, ThreadPool& pool) { return solver.solve(y, options, pool).x; })
        .settings = told(options);
}

void Comparison::add_linear() {
    const auto estimator = LinearEstimator::fit(problem_.op.structure(), problem_.train, {}, pool_);
    const auto rounded = estimator.rounded_to_int8();
    const std::size_t all = problem_.test.x.rows();
    add("linear MMSE", estimator.stored_bits(), all,
        [&](ConstBatchView y, ThreadPool& pool) { return estimator.recover(y, pool); });
    add("linear MMSE, int8", rounded.stored_bits(), all,
        [&](ConstBatchView y, ThreadPool& pool) { return rounded.recover(y, pool); });
}

void Comparison::add_oracle() {
    const auto x = problem_.test.x.view().row_range(0, solver_signals_);
    const auto y = problem_.test.y.view().row_range(0, solver_signals_);
    std::size_t entries = 0;
    for (std::size_t i = 0; i < x.rows; ++i)
        for (const float v : x.row(i)) entries += v != 0 ? 1 : 0;
    if (!problem_.sparse || entries == 0 || entries >= x.rows * y.cols) return;
    ComparisonRow row;
    row.method = "oracle: knows the support";
    const Batch fitted = OmpSolver(problem_.op, pool_, grouping_).fit_support(x, y, pool_);
    row.metrics = measure(x, fitted);
    row.bound = true;
    row.note =
        "The oracle is told the true support and fits it by least squares. No method can know "
        "it: its error is a bound.";
    rows_.push_back(std::move(row));
}

void Comparison::add_support_detection() {
    const auto* channels = problem_.prior ? std::get_if<BeamspacePrior>(&*problem_.prior) : nullptr;
    if (channels == nullptr) return;
    const SupportDetection solver(problem_.op, grouping_, pool_);
    if (solver.most_width(channels->paths) == 0) return;
    const SupportDetectionOptions options =
        best_width(solver, tuning_, channels->paths, pool_).options;
    add("support detection", reference_bits() + 64, solver_signals_,
        [&](ConstBatchView y, ThreadPool& pool) { return solver.solve(y, options, pool).x; })
        .settings = fmt::format("{} beams around each of {} paths", options.width, options.paths);
}

void Comparison::add_model(const std::string& method, const Model& model, bool ours) {
    const Recoverer recoverer(model);
    add(method, count_bits(model).total, problem_.test.x.rows(),
        [&](ConstBatchView y, ThreadPool& pool) { return recoverer.coefficients(y, pool); })
        .ours = ours;
}

void Comparison::add_trained(const std::string& method, const TrainResult& result) {
    if (result.pretrained) {
        const std::size_t epochs = result.pretrained_epochs;
        add_model(
            fmt::format("float, after pretraining: {} epoch{}", epochs, epochs == 1 ? "" : "s"),
            *result.pretrained, false);
        rows_.back().note =
            "The pretrained float network has the same layers, and this training started from it. "
            "Trained to the end it may be better still (pibinn compare).";
    }
    add_model(method, result.model);
}

void Comparison::add_references(std::size_t layers) {
    add_lasso(LassoMethod::ista, layers);
    add_lasso(LassoMethod::fista, layers);
    if (layers != kManyIterations) add_lasso(LassoMethod::fista, kManyIterations);
    add_omp();
    add_support_detection();
    add_amp(AmpShrink::soft);
    add_amp(AmpShrink::bernoulli_gaussian);
    add_linear();
    add_oracle();
}

std::string Comparison::text() const { return comparison_text(rows_); }

nlohmann::ordered_json Comparison::json() const {
    auto rows = nlohmann::ordered_json::array();
    for (const ComparisonRow& r : rows_) {
        nlohmann::ordered_json row{{"method", r.method},
                                   {"nmse_db", r.metrics.nmse_db},
                                   {"energy_nmse_db", r.metrics.energy_nmse_db},
                                   {"median_nmse_db", r.metrics.median_nmse_db},
                                   {"support_f1", r.metrics.support_f1},
                                   {"signals", r.metrics.signals}};
        if (r.activity) row["activity"] = activity_json(*r.activity);
        if (r.bound) {
            row["bound"] = true;
        } else {
            row["microseconds_per_signal"] = r.time.batch_us;
            row["latency_microseconds"] = r.time.latency_us;
            row["batch"] = r.time.batch;
            row["threads"] = r.time.threads;
            row["stored_bits"] = r.stored_bits;
        }
        if (!r.settings.empty()) row["settings"] = r.settings;
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace pibinn::study
