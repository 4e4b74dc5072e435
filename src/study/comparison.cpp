#include "study/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/numbers.hpp"
#include "core/table.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/recoverer.hpp"
#include "study/stopwatch.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kTuningSignals = 500;
// Measurements made elsewhere differ by rounding where they are free of noise.
constexpr double kRounding = 1e-5;
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

void Comparison::add(Entry entry, const std::function<Batch()>& solve) {
    Batch estimate;
    entry.microseconds = microseconds_each(problem_.test.x.rows(), [&] { estimate = solve(); });
    entry.metrics = measure(problem_.test.x, estimate);
    entries_.push_back(std::move(entry));
}

void Comparison::add_lasso(LassoMethod method, std::size_t iterations) {
    LassoOptions options;
    options.method = method;
    options.max_iterations = iterations;
    options.tolerance = 0;
    options.lambda = best_lambda(problem_.op, tuning_, kLambdas, options, pool_).lambda;
    const char* name = method == LassoMethod::ista ? "ISTA" : "FISTA";
    add({fmt::format("{}, {} iterations", name, iterations), {}, 0, reference_bits() + 32},
        [&] { return solve_lasso(problem_.op, problem_.test.y, options, pool_).x; });
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
    add({"OMP", {}, 0, reference_bits()},
        [&] { return solver.solve(problem_.test.y, options, pool_).x; });
}

void Comparison::add_linear() {
    const auto estimator = LinearEstimator::fit(problem_.op.structure(), problem_.train, {}, pool_);
    const auto rounded = estimator.rounded_to_int8();
    add({"linear MMSE", {}, 0, estimator.stored_bits()},
        [&] { return estimator.recover(problem_.test.y, pool_); });
    add({"linear MMSE, int8", {}, 0, rounded.stored_bits()},
        [&] { return rounded.recover(problem_.test.y, pool_); });
}

void Comparison::add_model(const std::string& method, const Model& model) {
    const Recoverer recoverer(model);
    add({method, {}, 0, count_bits(model).total, true},
        [&] { return recoverer.coefficients(problem_.test.y, pool_); });
}

void Comparison::add_references(std::size_t layers) {
    add_lasso(LassoMethod::ista, layers);
    add_lasso(LassoMethod::fista, layers);
    if (layers != 100) add_lasso(LassoMethod::fista, 100);
    add_omp();
    add_linear();
}

std::string Comparison::table() const {
    Table table = Table::of(
        {"method", "nmse dB", "energy nmse dB", "median dB", "us a signal", "stored bits"});
    for (const Entry& e : entries_)
        table.add({e.method, fmt::format("{:.2f}", e.metrics.nmse_db),
                   fmt::format("{:.2f}", e.metrics.energy_nmse_db),
                   fmt::format("{:.2f}", e.metrics.median_nmse_db),
                   fmt::format("{:.2f}", e.microseconds), grouped(e.stored_bits)});
    return table_text(table);
}

nlohmann::ordered_json Comparison::json() const {
    auto rows = nlohmann::ordered_json::array();
    for (const Entry& e : entries_)
        rows.push_back({{"method", e.method},
                        {"nmse_db", e.metrics.nmse_db},
                        {"energy_nmse_db", e.metrics.energy_nmse_db},
                        {"median_nmse_db", e.metrics.median_nmse_db},
                        {"support_f1", e.metrics.support_f1},
                        {"microseconds_per_signal", e.microseconds},
                        {"stored_bits", e.stored_bits}});
    return rows;
}

}  // namespace pibinn::study
