#include "study/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "pibinn/linear.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/recoverer.hpp"
#include "study/timing.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kTuningSignals = 500;
// Measurements made elsewhere differ by rounding where they are free of noise.
constexpr double kRounding = 1e-5;
// Short, since eight methods are timed after every training.
constexpr TimingBudget kBudget{0.02, 1e-3, 3};
constexpr std::array kLambdas{0.003, 0.006, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15};

Batch copy(ConstBatchView rows) {
    Batch to(rows.rows, rows.cols);
    for (std::size_t i = 0; i < rows.rows; ++i)
        std::copy_n(rows.row(i).begin(), rows.cols, to.row(i).begin());
    return to;
}

}  // namespace

Comparison::Comparison(const Problem& problem, ThreadPool& pool) : problem_(problem), pool_(pool) {
    const std::size_t rows = std::min(kTuningSignals, problem_.train.x.rows());
    tuning_.x = copy(problem_.train.x.view().row_range(0, rows));
    tuning_.y = copy(problem_.train.y.view().row_range(0, rows));
}

std::size_t Comparison::reference_bits() const {
    return operator_bits(problem_.op.structure(), problem_.op.is_sign());
}

void Comparison::add(const std::string& method, std::size_t stored_bits, const Solve& solve) {
    ComparisonRow row;
    row.method = method;
    row.metrics = measure(problem_.test.x, solve(problem_.test.y, pool_));
    row.time = time_recovery(solve, problem_.test.y, pool_, kBudget);
    row.stored_bits = stored_bits;
    rows_.push_back(std::move(row));
}

void Comparison::add_lasso(LassoMethod method, std::size_t iterations) {
    LassoOptions options;
    options.method = method;
    options.max_iterations = iterations;
    options.tolerance = 0;
    // Prepared once, as every method prepares what depends on the operator alone.
    options.squared_norm = problem_.op.squared_norm();
    options.lambda = best_lambda(problem_.op, tuning_, kLambdas, options, pool_).lambda;
    const char* name = method == LassoMethod::ista ? "ISTA" : "FISTA";
    add(fmt::format("{}, {} iterations", name, iterations), reference_bits() + 32,
        [&](ConstBatchView y, ThreadPool& pool) {
            return solve_lasso(problem_.op, y, options, pool).x;
        });
}

void Comparison::add_omp() {
    const OmpSolver solver(problem_.op, pool_);
    OmpOptions options;
    // With noise, explaining the measurements further than the noise goes is fitting noise. How
    // far it goes shows in the training pairs, wherever it came from.
    const Batch exact = problem_.op.apply(tuning_.x, pool_);
    double noise = 0, energy = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double y = tuning_.y.data()[i];
        noise += (y - exact.data()[i]) * (y - exact.data()[i]);
        energy += y * y;
    }
    const double tolerance = std::sqrt(noise / std::max(energy, 1e-30));
    if (tolerance > kRounding) options.tolerance = std::min(1.0, tolerance);
    add("OMP", reference_bits(),
        [&](ConstBatchView y, ThreadPool& pool) { return solver.solve(y, options, pool).x; });
}

void Comparison::add_linear() {
    const auto estimator = LinearEstimator::fit(problem_.op.structure(), problem_.train, {}, pool_);
    const auto rounded = estimator.rounded_to_int8();
    add("linear MMSE", estimator.stored_bits(),
        [&](ConstBatchView y, ThreadPool& pool) { return estimator.recover(y, pool); });
    add("linear MMSE, int8", rounded.stored_bits(),
        [&](ConstBatchView y, ThreadPool& pool) { return rounded.recover(y, pool); });
}

void Comparison::add_model(const std::string& method, const Model& model, bool ours) {
    const Recoverer recoverer(model);
    add(method, count_bits(model).total,
        [&](ConstBatchView y, ThreadPool& pool) { return recoverer.coefficients(y, pool); });
    rows_.back().ours = ours;
}

void Comparison::add_references(std::size_t layers) {
    add_lasso(LassoMethod::ista, layers);
    add_lasso(LassoMethod::fista, layers);
    if (layers != 100) add_lasso(LassoMethod::fista, 100);
    add_omp();
    add_linear();
}

std::string Comparison::text() const { return comparison_text(rows_); }

nlohmann::ordered_json Comparison::json() const {
    auto rows = nlohmann::ordered_json::array();
    for (const ComparisonRow& r : rows_)
        rows.push_back({{"method", r.method},
                        {"nmse_db", r.metrics.nmse_db},
                        {"energy_nmse_db", r.metrics.energy_nmse_db},
                        {"median_nmse_db", r.metrics.median_nmse_db},
                        {"support_f1", r.metrics.support_f1},
                        {"microseconds_per_signal", r.time.batch_us},
                        {"latency_microseconds", r.time.latency_us},
                        {"batch", r.time.batch},
                        {"threads", r.time.threads},
                        {"stored_bits", r.stored_bits}});
    return rows;
}

}  // namespace pibinn::study
