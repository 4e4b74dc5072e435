#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/study.hpp"
#include "pibinn/synthetic_problem.hpp"
#include "problem/draw_sets.hpp"
#include "study/hint_keys.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;
using Decibels = std::optional<std::pair<double, double>>;

std::optional<SnrRange> range_of(const Decibels& snr_db) {
    if (!snr_db) return std::nullopt;
    return SnrRange{snr_db->first, snr_db->second, 0};
}

/// A word that names a basis, or the matrix of one.
Basis basis_of(const nb::object& basis, std::size_t n) {
    if (basis.is_none()) return {};
    if (nb::isinstance<nb::str>(basis))
        return Basis::named(parse_named_basis(nb::cast<std::string>(basis)), n);
    return Basis::from_matrix(copy_of(nb::cast<Rows<float>>(basis)), "the basis");
}

Problem from_arrays(const Operator& op, const AnyRows& signals, const nb::object& measurements,
                    std::size_t vectors, std::optional<std::size_t> train,
                    std::optional<std::size_t> test, double noise_std, const Decibels& snr_db,
                    const nb::object& basis, std::uint64_t seed) {
    ArrayProblem arrays;
    arrays.op = op;
    arrays.x = user_array(signals, "signals");
    if (!measurements.is_none())
        arrays.y = user_array(nb::cast<AnyRows>(measurements), "measurements");
    arrays.vectors = vectors;
    arrays.train = train;
    arrays.test = test;
    arrays.noise_std = noise_std;
    arrays.snr_db = range_of(snr_db);
    arrays.basis = basis_of(basis, arrays.x.entries() / std::max<std::size_t>(vectors, 1));
    arrays.seed = seed;
    arrays.x_name = "signals";
    arrays.y_name = "measurements";
    const nb::gil_scoped_release release;
    return Problem::from_arrays(arrays, shared_pool(0));
}

/// Signals of a law instead of examples, measured by an operator that is there. Complex operators
/// measure complex signals.
Problem from_prior(const Operator& op, double density, const std::vector<std::uint32_t>& support,
                   std::size_t train, std::size_t test, double noise_std, const Decibels& snr_db,
                   std::uint64_t seed) {
    const nb::gil_scoped_release release;
    ThreadPool& pool = shared_pool(0);
    if (!(density > 0 && density <= 1))
        fail_usage("the density " + std::to_string(density) + " is not a share of the entries",
                   "give a number in (0, 1]");
    if (!op.structure().is_complex()) {
        SyntheticSpec spec;
        spec.prior = {density, support};
        spec.train = train;
        spec.test = test;
        spec.noise_std = noise_std;
        spec.snr_db = range_of(snr_db);
        return make_synthetic(spec, op, seed, pool);
    }
    if (!support.empty())
        fail_usage("a fixed support of complex signals is not drawn", "give a density instead");
    Problem problem;
    problem.op = op;
    problem.domain.complex = true;
    problem.prior = SpectrumPrior{op.cols() / op.structure().repeat() / 2, density, {}};
    problem.noise_std = noise_std;
    problem.snr_db = range_of(snr_db);
    draw_sets(problem, train, test, seed, pool);
    problem.column_norm.reset();  // that of the user's operator is measured
    return problem;
}

Problem load(const std::vector<std::string>& settings, const std::string& file,
             std::optional<std::uint64_t> seed) {
    const nb::gil_scoped_release release;
    try {
        return study::load_problem({file, settings, seed}, shared_pool(0));
    } catch (const Error& error) {
        throw Error(error.kind(), study::with_keys(error.message()),
                    study::with_keys(error.hint()));
    }
}

/// Signals in the unit that they came in, such as pixels or volts.
nb::object signals_of(const Problem& problem, const DataSet& set) {
    Batch signals;
    {
        const nb::gil_scoped_release release;
        signals = problem.domain.to_signals(set.x, shared_pool(0));
    }
    return rows_to_numpy(std::move(signals), problem.domain.signal_rows());
}

nb::object measurements_of(const Problem& problem, const DataSet& set) {
    return rows_to_numpy(set.y, problem.domain.measurement_rows());
}

nb::dict traits_of(const Problem& problem) {
    nb::dict traits;
    const SignalDomain& domain = problem.domain;
    traits["complex"] = domain.complex;
    traits["complex_measurements"] = domain.complex_measurements;
    traits["vectors"] = domain.vectors;
    traits["basis"] = std::string(to_string(domain.basis.kind()));
    traits["patch"] = domain.patch;
    traits["normalize"] = std::string(to_string(domain.normalize));
    traits["mean"] = domain.mean;
    traits["deviation"] = domain.deviation;
    traits["noise_std"] = problem.noise_std;
    traits["snr_db"] = problem.snr_db
                           ? nb::cast(std::pair(problem.snr_db->least_db, problem.snr_db->most_db))
                           : nb::none();
    traits["unexplained"] = problem.unexplained;
    traits["protocol"] = problem.protocol;
    traits["exchangeability"] = problem.exchangeability;
    return traits;
}

}  // namespace

void bind_problems(nb::module_& core) {
    nb::class_<Problem>(core, "Problem", "What a network is trained on and judged by.")
        .def_static("from_arrays", &from_arrays, "op"_a, "signals"_a, "measurements"_a = nb::none(),
                    "vectors"_a = 1, "train"_a = nb::none(), "test"_a = nb::none(),
                    "noise_std"_a = 0.0, "snr_db"_a = nb::none(), "basis"_a = nb::none(),
                    "seed"_a = 1)
        .def_static("from_prior", &from_prior, "op"_a, "density"_a, "support"_a, "train"_a,
                    "test"_a, "noise_std"_a, "snr_db"_a, "seed"_a)
        .def_static("load", &load, "settings"_a, "file"_a = "", "seed"_a = nb::none())
        .def_ro("op", &Problem::op)
        .def_prop_ro("signals", [](const Problem& p) { return signals_of(p, p.train); })
        .def_prop_ro("measurements", [](const Problem& p) { return measurements_of(p, p.train); })
        .def_prop_ro("test_signals", [](const Problem& p) { return signals_of(p, p.test); })
        .def_prop_ro("test_measurements",
                     [](const Problem& p) { return measurements_of(p, p.test); })
        .def_prop_ro("traits", &traits_of)
        .def_ro("notes", &Problem::notes)
        .def_ro("warnings", &Problem::warnings);
}

}  // namespace pibinn::python
