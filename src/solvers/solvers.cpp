#include "pibinn/solvers.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "solvers/checks.hpp"

namespace pibinn {

namespace {

constexpr NameTable<SolverKind, 7> kSolverNames{
    {{SolverKind::ista, "ista"},
     {SolverKind::fista, "fista"},
     {SolverKind::omp, "omp"},
     {SolverKind::amp, "amp"},
     {SolverKind::bg_amp, "bg-amp"},
     {SolverKind::linear, "linear"},
     {SolverKind::support_detection, "support-detection"}}};

// Measurements made elsewhere differ by rounding where they are free of noise.
constexpr double kRoundingOfNoiseless = 1e-5;

void require_finite(ConstBatchView batch, const char* what) {
    for (std::size_t i = 0; i < batch.rows; ++i)
        for (std::size_t j = 0; j < batch.cols; ++j)
            if (!std::isfinite(batch(i, j)))
                fail_input(fmt::format("{} {} has {} at entry {}", what, i, batch(i, j), j),
                           "replace NaN and infinite entries");
}

}  // namespace

std::string_view to_string(SolverKind kind) { return name_of(kSolverNames, kind); }

SolverKind parse_solver_kind(std::string_view name) {
    return parse_name(kSolverNames, name, "solver");
}

SolveInfo SolveInfo::of(std::span<const std::uint32_t> iterations, std::size_t converged) {
    SolveInfo info;
    info.signals = iterations.size();
    info.converged = converged;
    std::uint64_t total = 0;
    for (std::uint32_t k : iterations) {
        info.max_iterations = std::max<std::size_t>(info.max_iterations, k);
        total += k;
    }
    if (!iterations.empty())
        info.mean_iterations = static_cast<double>(total) / static_cast<double>(iterations.size());
    return info;
}

void require_measurements(const Structure& structure, ConstBatchView y) {
    if (y.cols != structure.rows())
        fail_input(
            fmt::format("expected {} measurements per row, got {}", structure.rows(), y.cols),
            fmt::format("the operator is {} x {}: give one measurement vector per row",
                        structure.rows(), structure.cols()));
    require_finite(y, "measurement");
}

void require_pairs(const Structure& structure, ConstBatchView x, ConstBatchView y) {
    if (x.cols != structure.cols())
        fail_input(fmt::format("expected {} entries per signal, got {}", structure.cols(), x.cols),
                   fmt::format("the operator is {} x {}: give one signal per row", structure.rows(),
                               structure.cols()));
    if (x.rows != y.rows)
        fail_input(fmt::format("{} signals but {} measurements", x.rows, y.rows),
                   "row i of the measurements must belong to row i of the signals");
    if (x.rows == 0)
        fail_input("no training pairs", "give at least one signal and its measurement");
    require_measurements(structure, y);
    require_finite(x, "signal");
}

double mean_nmse_db(ConstBatchView x, const std::function<double(std::size_t)>& squared_error) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < x.rows; ++i) {
        double energy = 0;
        for (const float v : x.row(i)) energy += double{v} * double{v};
        if (energy == 0) continue;
        sum += squared_error(i) / energy;
        ++count;
    }
    if (count == 0)
        fail_input(fmt::format("all {} training signals are zero", x.rows),
                   "nmse divides by their norm; give signals that are not zero");
    return 10 * std::log10(sum / static_cast<double>(count));
}

double mean_nmse_db(ConstBatchView x, ConstBatchView estimate) {
    return mean_nmse_db(x, [&](std::size_t i) {
        double error = 0;
        for (std::size_t j = 0; j < x.cols; ++j) {
            const double off = double{estimate(i, j)} - double{x(i, j)};
            error += off * off;
        }
        return error;
    });
}

NoiseLevel noise_level(const Operator& op, const DataSet& pairs, ThreadPool& pool) {
    require_pairs(op.structure(), pairs.x, pairs.y);
    const Batch exact = op.apply(pairs.x, pool);
    double noise = 0, energy = 0, shares = 0, signals = 0;
    for (std::size_t i = 0; i < exact.rows(); ++i) {
        double own_noise = 0, own_energy = 0;
        for (std::size_t j = 0; j < exact.cols(); ++j) {
            const double y = pairs.y(i, j);
            own_noise += (y - exact(i, j)) * (y - exact(i, j));
            own_energy += y * y;
        }
        noise += own_noise;
        energy += own_energy;
        if (own_energy == 0) continue;
        shares += own_noise / own_energy;
        ++signals;
    }
    if (noise <= kRoundingOfNoiseless * kRoundingOfNoiseless * energy) return {};
    return {std::sqrt(noise / static_cast<double>(exact.size())), std::sqrt(shares / signals)};
}

}  // namespace pibinn
