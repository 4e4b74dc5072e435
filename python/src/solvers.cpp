#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "pibinn/amp.hpp"
#include "pibinn/error.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/omp.hpp"
#include "work.hpp"

namespace pibinn::python {

namespace {

using nb::literals::operator""_a;

nb::tuple told(Solution solution) {
    nb::dict info;
    info["signals"] = solution.info.signals;
    info["converged"] = solution.info.converged;
    info["max_iterations"] = solution.info.max_iterations;
    info["mean_iterations"] = solution.info.mean_iterations;
    info["damped"] = solution.info.damped;
    return nb::make_tuple(to_numpy(std::move(solution.x)), info);
}

/// Runs a solver without the interpreter's lock.
template <class Solve>
nb::tuple solved(std::size_t threads, const Solve& solve) {
    Solution solution;
    {
        const nb::gil_scoped_release release;
        solution = solve(shared_pool(threads));
    }
    return told(std::move(solution));
}

/// Of complex numbers, whose two parts share their fate.
Grouping groups_of(std::size_t rows, std::size_t halves) { return {rows, halves}; }

nb::tuple lasso(const Operator& op, const Rows<float>& y, const std::string& method, double lambda,
                bool relative, double continuation, std::size_t max_iterations, double tolerance,
                std::size_t rows, std::size_t halves, std::size_t threads) {
    LassoOptions options;
    options.method = method == "ista" ? LassoMethod::ista : LassoMethod::fista;
    options.lambda = lambda;
    options.unit = relative ? LambdaUnit::relative : LambdaUnit::absolute;
    options.continuation = continuation;
    options.max_iterations = max_iterations;
    options.tolerance = tolerance;
    options.grouping = groups_of(rows, halves);
    return solved(threads,
                  [&](ThreadPool& pool) { return solve_lasso(op, view_of(y), options, pool); });
}

nb::tuple omp(const Operator& op, const Rows<float>& y, std::size_t sparsity, double tolerance,
              double noise_std, std::size_t rows, std::size_t halves, std::size_t threads) {
    return solved(threads, [&](ThreadPool& pool) {
        return solve_omp(op, view_of(y), {sparsity, tolerance, noise_std}, pool,
                         groups_of(rows, halves));
    });
}

nb::tuple amp(const Operator& op, const Rows<float>& y, const std::string& shrink, double alpha,
              double density, double variance, double noise_std, double damping,
              std::size_t max_iterations, double tolerance, std::size_t rows, std::size_t halves,
              std::size_t threads) {
    AmpOptions options;
    options.shrink =
        shrink == "bernoulli-gaussian" ? AmpShrink::bernoulli_gaussian : AmpShrink::soft;
    options.alpha = alpha;
    options.prior = {density, variance};
    options.noise_std = noise_std;
    options.damping = damping;
    options.max_iterations = max_iterations;
    options.tolerance = tolerance;
    return solved(threads, [&](ThreadPool& pool) {
        return solve_amp(op, view_of(y), options, pool, groups_of(rows, halves));
    });
}

/// Of training pairs where there are any, otherwise of white signals and noise.
nb::object linear(const Operator& op, const Rows<float>& y, const nb::object& signals,
                  const nb::object& measurements, double noise_std, double ridge, bool remove_mean,
                  std::size_t threads) {
    DataSet pairs;
    const bool fitted = !signals.is_none();
    if (fitted) {
        pairs.x = copy_of(nb::cast<Rows<float>>(signals));
        pairs.y = copy_of(nb::cast<Rows<float>>(measurements));
        if (pairs.x.rows() != pairs.y.rows() || pairs.x.cols() != op.cols() ||
            pairs.y.cols() != op.rows())
            fail_input("signals and measurements to fit do not belong to the operator",
                       "give one pair per row, as many entries as the operator has columns and "
                       "rows");
    }
    Batch x;
    {
        const nb::gil_scoped_release release;
        ThreadPool& pool = shared_pool(threads);
        const LinearEstimator estimator =
            fitted ? LinearEstimator::fit(op.structure(), pairs, {ridge, remove_mean}, pool)
                   : LinearEstimator::from_prior(op, noise_std, pool);
        x = estimator.recover(view_of(y), pool);
    }
    return to_numpy(std::move(x));
}

}  // namespace

void bind_solvers(nb::module_& core) {
    core.def("lasso", &lasso, "op"_a, "y"_a, "method"_a, "lambda_"_a, "relative"_a,
             "continuation"_a, "max_iterations"_a, "tolerance"_a, "rows"_a, "halves"_a,
             "threads"_a);
    core.def("omp", &omp, "op"_a, "y"_a, "sparsity"_a, "tolerance"_a, "noise_std"_a, "rows"_a,
             "halves"_a, "threads"_a);
    core.def("amp", &amp, "op"_a, "y"_a, "shrink"_a, "alpha"_a, "density"_a, "variance"_a,
             "noise_std"_a, "damping"_a, "max_iterations"_a, "tolerance"_a, "rows"_a, "halves"_a,
             "threads"_a);
    core.def("linear", &linear, "op"_a, "y"_a, "signals"_a.none(), "measurements"_a.none(),
             "noise_std"_a, "ridge"_a, "remove_mean"_a, "threads"_a);
}

}  // namespace pibinn::python
