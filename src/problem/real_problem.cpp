#include "pibinn/real_problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "problem/basis_operator.hpp"
#include "problem/near_sign.hpp"
#include "problem/random_mask.hpp"
#include "problem/units.hpp"

namespace pibinn {

namespace {

std::size_t measurements(const SensingSpec& spec, std::size_t n) {
    if (spec.m > 0) return spec.m;
    return std::max<std::size_t>(
        1, static_cast<std::size_t>(std::lround(spec.ratio * static_cast<double>(n))));
}

Structure structure_of(const SensingSpec& spec, std::size_t m, std::size_t n, std::uint64_t seed) {
    const bool whole =
        spec.structure == StructureKind::dense || spec.structure == StructureKind::mask;
    if (spec.ensemble == OperatorEnsemble::binary_sparse && whole)
        return random_columns(m, n, spec.ones_per_column, seed);
    if (spec.structure == StructureKind::dense) return Structure::dense(m, n);
    if (spec.structure == StructureKind::mask)
        fail_usage("nobody can draw a mask",
                   "give the operator as a file, draw it binary-sparse, or use dense or blocks");
    const std::size_t u = spec.blocks;
    if (u == 0 || m % u != 0 || n % u != 0)
        fail_usage(
            fmt::format("{} equal blocks do not tile an operator of {} x {}", u, m, n),
            "choose SensingSpec::blocks and SensingSpec::m so that the blocks divide both sides");
    if (spec.structure == StructureKind::repeated) return Structure::repeated(m / u, n / u, u);
    const std::vector<std::pair<std::size_t, std::size_t>> shapes(u, {m / u, n / u});
    return Structure::blocks(shapes);
}

Operator raw_operator(const SensingSpec& spec, std::size_t n, std::uint64_t seed) {
    if (!spec.given)
        return Operator::random(structure_of(spec, measurements(spec, n), n, seed), spec.ensemble,
                                seed);
    if (spec.given->cols() != n)
        fail_input(fmt::format("the operator is {} x {}, but signals have {} entries",
                               spec.given->rows(), spec.given->cols(), n),
                   fmt::format("give a matrix of {} columns", n));
    return *spec.given;
}

/// The scale of an artefact follows from the ratio asked for, so that only its basis matters.
Batch artefact_coefficients(const Batch& artefacts, const RealSignals& signals,
                            const SignalDomain& domain, ThreadPool& pool) {
    if (artefacts.rows() == 0) return {};
    if (artefacts.cols() != signals.train.cols())
        fail_input(fmt::format("{}: artefacts have {} samples, signals {}", signals.where,
                               artefacts.cols(), signals.train.cols()),
                   "cut both into segments of one length");
    return domain.basis.to_coefficients(artefacts, pool);
}

double root_mean_square(const UserArray& x) {
    double squares = 0;
    for (std::size_t i = 0; i < x.rows(); ++i)
        for (std::size_t j = 0; j < x.cols(); ++j) squares += x(i, j) * x(i, j);
    const double mean =
        std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, x.size())));
    return mean > 0 && std::isfinite(mean) ? mean : 1;
}

/// The problem of signals divided by `unit`, with noise in the unit of the result.
Problem sensed_problem(const RealSignals& signals, double unit, double noise_std,
                       SignalDomain domain, const SensingSpec& sensing, std::uint64_t seed,
                       ThreadPool& pool) {
    const std::size_t n = signals.train.cols();
    const Batch train = signals.train.to_float32(unit);
    domain.fit(train, signals.where);
    Problem problem;
    problem.op = sensing_operator(sensing, domain.basis, n, seed, pool);
    problem.train.x = domain.to_coefficients(train, pool);
    problem.test.x = domain.to_coefficients(signals.test.to_float32(unit), pool);
    const bool late = signals.noise_place == NoisePlace::measurements;
    const bool early = signals.noise_place == NoisePlace::signals;
    const double added = early ? noise_std / domain.deviation : noise_std;
    problem.noise_std = late ? added : 0;
    if (!late) domain.noise_std = early ? noise_std : noise_std * domain.deviation;
    const auto artefacts = [&](const UserArray& own) {
        // In a unit of their own, where signals are divided at all.
        return artefact_coefficients(own.to_float32(unit == 1 ? 1 : root_mean_square(own)), signals,
                                     domain, pool);
    };
    problem.train_disturbance = {late ? 0 : added, artefacts(signals.train_artefacts),
                                 signals.least_snr_db, signals.most_snr_db};
    problem.test_disturbance = problem.train_disturbance;
    problem.test_disturbance.artefacts = artefacts(signals.test_artefacts);
    problem.domain = std::move(domain);
    problem.sparse = false;
    problem.snr_db = signals.snr_db;
    if (!sensing.given) problem.column_norm = 1;
    require_some_signals(problem, signals.where);
    measure_sets(problem, seed, pool);
    return problem;
}

/// The same in units of 1, for training.
void normalise(const RealSignals& signals, const SignalDomain& domain, SensingSpec sensing,
               std::uint64_t seed, ThreadPool& pool, Problem& problem) {
    const double size = root_mean_square(signals.train);
    // Normalised by their deviation, signals have no unit any more.
    Units units{domain.normalize == Normalize::zscore ? 1 : size, 1};
    if (sensing.given) {
        units.column = column_norm(*sensing.given);
        sensing.given = sensing.given->divided(units.column);
    }
    const double noise_unit = signals.noise_place == NoisePlace::signals ? size
                              : signals.noise_place == NoisePlace::measurements
                                  ? units.measurement()
                                  : units.signal;
    remember_normalised(problem,
                        sensed_problem(signals, size, in_unit(signals.noise_std, noise_unit),
                                       domain, sensing, seed, pool),
                        units);
}

constexpr NameTable<NoisePlace, 3> kPlaces{{{NoisePlace::signals, "signals"},
                                            {NoisePlace::normalised, "normalised"},
                                            {NoisePlace::measurements, "measurements"}}};

}  // namespace

std::string_view to_string(NoisePlace place) { return name_of(kPlaces, place); }
NoisePlace parse_noise_place(std::string_view name) {
    return parse_name(kPlaces, name, "place of noise");
}

Operator sensing_operator(const SensingSpec& spec, const Basis& basis, std::size_t n,
                          std::uint64_t seed, ThreadPool& pool) {
    Operator op = raw_operator(spec, n, seed);
    return spec.on_signals ? in_basis(op, basis, pool) : op;
}

Problem make_real(const RealSignals& signals, SignalDomain domain, const SensingSpec& sensing,
                  std::uint64_t seed, ThreadPool& pool) {
    Problem problem = sensed_problem(signals, 1, signals.noise_std, domain, sensing, seed, pool);
    if (sensing.given) warn_of_entries(problem.op, problem);
    if (signals.train.precise() || (sensing.given && sensing.given->precise()))
        normalise(signals, domain, sensing, seed, pool, problem);
    return problem;
}

}  // namespace pibinn
