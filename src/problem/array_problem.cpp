#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "problem/array_layout.hpp"
#include "problem/basis_operator.hpp"
#include "problem/find_invariance.hpp"
#include "problem/near_sign.hpp"
#include "problem/units.hpp"

namespace pibinn {

namespace {

struct RowSplit {
    std::size_t train = 0;
    std::size_t test = 0;
};

/// What was not said: all rows, four fifths of them to train.
RowSplit split_rows(const ArrayProblem& arrays) {
    const std::size_t rows = arrays.x.rows();
    if (rows < 2)
        fail_input(fmt::format("'{}' holds {} signal(s)", arrays.x_name, rows),
                   "give at least two: one to train, one to test");
    RowSplit split;
    if (arrays.train)
        split.train = *arrays.train;
    else if (arrays.test)
        split.train = rows - std::min(rows, *arrays.test);
    else
        split.train = std::clamp<std::size_t>(rows * 4 / 5, 1, rows - 1);
    split.test = arrays.test.value_or(rows - std::min(rows, split.train));
    if (split.train == 0 || split.test == 0 || split.train + split.test > rows)
        fail_input(
            fmt::format("'{}' holds {} signals, which do not give {} to train and {} to test",
                        arrays.x_name, rows, split.train, split.test),
            "lower ArrayProblem::train or ArrayProblem::test");
    return split;
}

/// Whether measurements came with the signals.
bool measured(const ArrayProblem& arrays) { return arrays.y.rows() > 0 || arrays.y.cols() > 0; }

void require_rows(const UserArray& rows, std::size_t cols, const char* noun,
                  const std::string& name) {
    if (rows.rows() == 0)
        fail_input(fmt::format("'{}' holds no {}: it has 0 rows", name, noun),
                   "give at least one row");
    if (rows.cols() != cols)
        fail_input(
            fmt::format("expected {} {} per row, got {} ('{}')", cols, noun, rows.cols(), name),
            "every row must fit the operator");
}

void require_fitting(const ArrayProblem& arrays) {
    require_rows(arrays.x, arrays.op.cols(), "signal entries", arrays.x_name);
    if (arrays.noise_std > 0 && arrays.snr_db)
        fail_usage("ArrayProblem::noise_std and ArrayProblem::snr_db are both given",
                   "say the noise in one of the two ways");
    if (!measured(arrays)) return;
    if (arrays.snr_db)
        fail_usage("ArrayProblem::snr_db would add noise to measurements that are given",
                   "remove snr_db, or y to let the operator measure");
    if (arrays.noise_std > 0)
        fail_usage("ArrayProblem::noise_std would be added to measurements that are given",
                   "remove noise_std, or y to let the operator measure");
    require_rows(arrays.y, arrays.op.rows(), "measurements", arrays.y_name);
    if (arrays.y.rows() != arrays.x.rows())
        fail_input(fmt::format("'{}' holds {} measurements, '{}' {} signals", arrays.y_name,
                               arrays.y.rows(), arrays.x_name, arrays.x.rows()),
                   "row i of the measurements must belong to row i of the signals");
}

void require_fitting_basis(const ArrayProblem& arrays, SignalDomain domain) {
    domain.basis = arrays.basis;
    if (arrays.basis.is_complex() && !domain.complex)
        fail_input(fmt::format("basis '{}' is of complex signals, and those of '{}' are real",
                               arrays.basis_name, arrays.x_name),
                   "give complex signals, or a basis of real ones");
    if (!domain.fits_basis(arrays.x.cols()))
        fail_usage(fmt::format("ArrayProblem::basis is of {} numbers, which rows of {} do not hold",
                               arrays.basis.length(), arrays.x.cols()),
                   "make it of as many entries as one vector has");
}

Units array_units(const ArrayProblem& arrays, const RowSplit& split) {
    return {signal_size(arrays.x, split.train), column_norm(arrays.op)};
}

/// The problem of numbers divided by `units`, before anything is found out about its signals.
Problem divided_problem(const ArrayProblem& arrays, const SignalDomain& domain,
                        const RowSplit& split, const Operator& op, const Units& units,
                        ThreadPool& pool) {
    Problem problem;
    problem.op = op;
    problem.noise_std =
        units.plain() ? arrays.noise_std : in_unit(arrays.noise_std, units.measurement());
    problem.snr_db = arrays.snr_db;
    problem.given_measurements = measured(arrays);
    problem.own_signals = true;
    problem.domain = domain;
    problem.domain.basis = arrays.basis;
    problem.train.x = arrays.x.to_float32(0, split.train, units.signal);
    problem.test.x = arrays.x.to_float32(split.train, split.test, units.signal);
    if (!problem.domain.plain()) {
        problem.op = in_basis(op, problem.domain.basis, pool);
        for (DataSet* set : {&problem.train, &problem.test})
            set->x = problem.domain.to_coefficients(set->x, pool);
        problem.protocol =
            fmt::format("signals of {} in the basis {}", arrays.x_name, arrays.basis_name);
    }
    require_some_signals(problem, arrays.x_name);
    if (!problem.given_measurements) {
        measure_sets(problem, arrays.seed, pool);
        return problem;
    }
    problem.train.y = arrays.y.to_float32(0, split.train, units.measurement());
    problem.test.y = arrays.y.to_float32(split.train, split.test, units.measurement());
    require_measurements(problem);
    return problem;
}

/// How far the operator explains measurements that came with their signals. What it leaves is kept
/// as their noise if it can be that.
void explain_measurements(Problem& problem, ThreadPool& pool) {
    Batch residual = problem.op.apply(problem.train.x, pool);
    double unexplained = 0, all = 0;
    for (std::size_t i = 0; i < residual.size(); ++i) {
        const float y = problem.train.y.values()[i];
        float& r = residual.values()[i];
        r = y - r;
        unexplained += double{r} * r;
        all += double{y} * y;
    }
    problem.unexplained = all > 0 ? unexplained / all : 1;
    if (problem.unexplained <= kMostUnexplained) problem.train_residual = std::move(residual);
}

/// What the choice of a training depends on.
void judge_signals(Problem& problem, ThreadPool& pool) {
    if (problem.given_measurements) explain_measurements(problem, pool);
    if (!problem.domain.plain()) return;
    if (!problem.domain.one_real_vector()) {
        problem.exchangeability =
            "complex signals, and several vectors per row, are not judged by their exchangeability";
        return;
    }
    const FoundInvariance found = find_invariance(problem.train.x);
    problem.invariance = found.invariance;
    problem.exchangeability = found.why;
}

/// Takes over what was judged in units of 1, so that no rounding in other units decides.
void adopt_judgement(const Problem& own, const Units& units, Problem& problem) {
    problem.invariance = own.invariance;
    problem.exchangeability = own.exchangeability;
    problem.unexplained = own.unexplained;
    problem.train_residual = own.train_residual;
    for (float& r : problem.train_residual.values())
        r = static_cast<float>(r * units.measurement());
}

void warn_of_measurements(const ArrayProblem& arrays, Problem& problem) {
    if (problem.traits().measurable) return;
    problem.warnings.push_back(fmt::format(
        "'{}' is not close to A x: the operator leaves {:.0f} % of its energy unexplained; check "
        "that row i of the measurements belongs to row i of '{}', and the unit of the operator",
        arrays.y_name, 100 * problem.unexplained, arrays.x_name));
}

}  // namespace

Problem Problem::from_arrays(const ArrayProblem& arrays) {
    ThreadPool pool;
    return from_arrays(arrays, pool);
}

Problem Problem::from_arrays(const ArrayProblem& given, ThreadPool& pool) {
    std::optional<LaidOutArrays> own_layout;
    if (needs_layout(given)) own_layout = lay_out(given);
    const ArrayProblem& arrays = own_layout ? own_layout->arrays : given;
    const SignalDomain domain = own_layout ? own_layout->domain : SignalDomain{};
    require_fitting(arrays);
    require_fitting_basis(arrays, domain);
    const RowSplit split = split_rows(arrays);
    Problem problem = divided_problem(arrays, domain, split, arrays.op, Units{}, pool);
    warn_of_entries(given.op, problem);
    if (own_layout) problem.notes = own_layout->notes;
    if (arrays.x.precise() || arrays.y.precise() || arrays.op.precise()) {
        const Units units = array_units(arrays, split);
        Problem own =
            divided_problem(arrays, domain, split, arrays.op.divided(units.column), units, pool);
        judge_signals(own, pool);
        adopt_judgement(own, units, problem);
        remember_normalised(problem, std::move(own), units);
    } else {
        judge_signals(problem, pool);
    }
    warn_of_measurements(arrays, problem);
    return problem;
}

}  // namespace pibinn
