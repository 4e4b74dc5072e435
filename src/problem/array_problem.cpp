#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/real_problem.hpp"
#include "problem/find_invariance.hpp"
#include "problem/near_sign.hpp"

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

Batch copy_rows(const Batch& from, std::size_t begin, std::size_t count) {
    Batch to(count, from.cols());
    std::copy_n(from.data() + begin * from.cols(), count * from.cols(), to.data());
    return to;
}

void require_rows(const Batch& rows, std::size_t cols, const char* noun, const std::string& name) {
    if (rows.rows() == 0)
        fail_input(fmt::format("'{}' holds no {}: it has 0 rows", name, noun),
                   "give at least one row");
    if (rows.cols() != cols)
        fail_input(
            fmt::format("expected {} {} per row, got {} ('{}')", cols, noun, rows.cols(), name),
            "every row must fit the operator");
}

/// How far the operator explains measurements that came with their signals.
void explain_measurements(Problem& problem, const ArrayProblem& arrays, ThreadPool& pool) {
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
    if (problem.unexplained <= kMostUnexplained) {
        problem.train_residual = std::move(residual);
        return;
    }
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

Problem Problem::from_arrays(const ArrayProblem& arrays, ThreadPool& pool) {
    require_rows(arrays.x, arrays.op.cols(), "signal entries", arrays.x_name);
    const bool measured = arrays.y.rows() > 0 || arrays.y.cols() > 0;
    if (arrays.noise_std > 0 && arrays.snr_db)
        fail_usage("ArrayProblem::noise_std and ArrayProblem::snr_db are both given",
                   "say the noise in one of the two ways");
    if (measured) {
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
    Problem problem;
    problem.op = arrays.op;
    warn_of_entries(problem);
    problem.noise_std = arrays.noise_std;
    problem.snr_db = arrays.snr_db;
    problem.given_measurements = measured;
    problem.own_signals = true;
    problem.domain.basis = arrays.basis;
    const RowSplit split = split_rows(arrays);
    const auto set_signals = [&](const Batch& x) {
        problem.train.x = copy_rows(x, 0, split.train);
        problem.test.x = copy_rows(x, split.train, split.test);
    };
    if (problem.domain.plain()) {
        set_signals(arrays.x);
    } else {
        SensingSpec sensing;
        sensing.given = problem.op;
        sensing.on_signals = true;
        problem.op =
            sensing_operator(sensing, problem.domain.basis, arrays.x.cols(), arrays.seed, pool);
        set_signals(problem.domain.to_coefficients(arrays.x, pool));
        problem.protocol =
            fmt::format("signals of {} in the basis {}", arrays.x_name, arrays.basis_name);
    }
    require_some_signals(problem, arrays.x_name);
    if (measured) {
        problem.train.y = copy_rows(arrays.y, 0, split.train);
        problem.test.y = copy_rows(arrays.y, split.train, split.test);
        require_measurements(problem);
        explain_measurements(problem, arrays, pool);
    } else {
        measure_sets(problem, arrays.seed, pool);
    }
    if (problem.domain.plain()) {
        const FoundInvariance found = find_invariance(problem.train.x);
        problem.invariance = found.invariance;
        problem.exchangeability = found.why;
    }
    return problem;
}

}  // namespace pibinn
