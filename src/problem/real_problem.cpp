#include "pibinn/real_problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "problem/near_sign.hpp"
#include "problem/random_mask.hpp"

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
    if (!spec.on_signals || basis.is_identity()) return op;
    if (op.structure().kind() != StructureKind::dense)
        fail_usage(
            fmt::format("a basis mixes what a structure of {} keeps apart",
                        to_string(op.structure().kind())),
            "set SensingSpec::structure = StructureKind::dense, or let a drawn operator sense "
            "coefficients");
    // A = Phi Psi: row by row, the coefficients of what a measurement looks at.
    return Operator::from_dense(basis.to_coefficients(op.to_dense(), pool));
}

Problem make_real(const RealSignals& signals, SignalDomain domain, const SensingSpec& sensing,
                  std::uint64_t seed, ThreadPool& pool) {
    const std::size_t n = signals.train.cols();
    domain.fit(signals.train, signals.where);
    Problem problem;
    problem.op = sensing_operator(sensing, domain.basis, n, seed, pool);
    problem.train.x = domain.to_coefficients(signals.train, pool);
    problem.test.x = domain.to_coefficients(signals.test, pool);
    const NoisePlace place = signals.noise_place;
    const bool late = place == NoisePlace::measurements;
    const bool early = place == NoisePlace::signals;
    const double noise_std = early ? signals.noise_std / domain.deviation : signals.noise_std;
    problem.noise_std = late ? noise_std : 0;
    if (!late) domain.noise_std = early ? signals.noise_std : signals.noise_std * domain.deviation;
    problem.train_disturbance = {
        late ? 0 : noise_std, artefact_coefficients(signals.train_artefacts, signals, domain, pool),
        signals.least_snr_db, signals.most_snr_db};
    problem.test_disturbance = problem.train_disturbance;
    problem.test_disturbance.artefacts =
        artefact_coefficients(signals.test_artefacts, signals, domain, pool);
    problem.domain = std::move(domain);
    problem.sparse = false;
    problem.snr_db = signals.snr_db;
    if (!sensing.given)
        problem.column_norm = 1;
    else
        warn_of_entries(problem);
    require_some_signals(problem, signals.where);
    measure_sets(problem, seed, pool);
    return problem;
}

}  // namespace pibinn
