#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "cli/solve_options.hpp"
#include "model/network_sites.hpp"
#include "pibinn/amp.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/support_detection.hpp"
#include "problem/array_layout.hpp"
#include "study/operator_source.hpp"
#include "study/stopwatch.hpp"

namespace pibinn::cli {

namespace {

/// What is solved: an operator on rows as they are inside, and how these are laid out.
struct SolveTask {
    Operator op;
    RowLayout x, y;
    Grouping grouping;  ///< of complex entries, both parts; of several vectors, the same entry
    Numbers text = Numbers::real;
    Batch measured;
    const char* note = "";

    ExpectedRows signals() const { return {op.cols(), x, "signal entries"}; }
};

/// The operator of a file, once per vector of a row.
Operator operator_of(const SolveOptions& options, Numbers text) {
    if (options.vectors > 1)
        return load_operator(options.operator_file, StructureKind::repeated, options.vectors, text);
    return load_operator(options.operator_file, parse_structure_kind(options.structure),
                         options.repeat, text);
}

/// Signals are complex where their measurements are, unless they are said to be real.
SolveTask read_task(const SolveOptions& options) {
    SolveTask task;
    task.text = text_numbers(options.complex, {options.operator_file, options.in,
                                               options.train_signals, options.signals});
    task.op = operator_of(options, task.text);
    ArrayRows y(options.in, task.text);
    const bool complex_op = task.op.structure().is_complex();
    if (options.real_signals && !complex_op)
        fail_usage(
            fmt::format("--real-signals, but the operator '{}' is real", options.operator_file),
            "remove it: signals are real where their measurements are");
    task.y = {complex_op || y.numbers() == Numbers::complex, task.op.structure().repeat()};
    task.x = {task.y.complex && !options.real_signals, task.y.vectors};
    if (options.real_signals) {
        task.op = on_real_vectors(task.op);
        task.note = kRealSignalsNote;
    } else if (task.x.complex) {
        task.op = on_complex_vectors(task.op);
        if (!complex_op) task.note = kRealOperatorNote;
    }
    const Groups each = task.x.complex ? Groups::complex : Groups::none;
    task.grouping = grouping_of(options.vectors > 1 ? Groups::rows : each, task.op.structure());
    task.measured = read_rows(y, {task.op.rows(), task.y, "measurements"}, options.in);
    return task;
}

/// Training signals, measured as those to recover were.
DataSet training_pairs(const SolveOptions& options, const SolveTask& task, ThreadPool& pool) {
    DataSet pairs;
    pairs.x = read_rows(options.train_signals, task.signals(), task.text);
    pairs.y = task.op.apply(pairs.x, pool);
    add_noise(pairs.y, options.noise(), 1, Purpose::train_noise, pool);
    return pairs;
}

LassoOptions lasso_options(const SolveOptions& options, SolverKind kind, const Grouping& grouping) {
    LassoOptions lasso;
    lasso.method = kind == SolverKind::ista ? LassoMethod::ista : LassoMethod::fista;
    lasso.unit = options.lambda ? LambdaUnit::absolute : LambdaUnit::relative;
    lasso.lambda = options.lambda ? *options.lambda : options.relative.value_or(lasso.lambda);
    lasso.max_iterations = options.iterations.value_or(lasso.max_iterations);
    lasso.tolerance = options.tolerance.value_or(lasso.tolerance);
    lasso.grouping = grouping;
    return lasso;
}

Solution solve_by_omp(const SolveOptions& options, const SolveTask& task, ThreadPool& pool) {
    const OmpSolver solver(task.op, pool, task.grouping);
    OmpOptions omp;
    omp.sparsity = options.sparsity.value_or(omp.sparsity);
    omp.noise_std = options.noise();
    if (!options.train_signals.empty())
        omp = solver
                  .best_stops(training_pairs(options, task, pool), {.deviation = options.noise()},
                              pool)
                  .best()
                  .options;
    omp.tolerance = options.tolerance.value_or(omp.tolerance);
    return solver.solve(task.measured, omp, pool);
}

Solution solve_by_amp(const SolveOptions& options, SolverKind kind, const SolveTask& task,
                      ThreadPool& pool) {
    const AmpSolver solver(task.op, task.grouping);
    AmpOptions amp;
    if (kind == SolverKind::bg_amp) {
        amp.shrink = AmpShrink::bernoulli_gaussian;
        amp.noise_std = options.noise();
    }
    amp.alpha = options.alpha.value_or(amp.alpha);
    amp.prior.density = options.density.value_or(amp.prior.density);
    amp.prior.variance = options.variance.value_or(amp.prior.variance);
    amp.max_iterations = options.iterations.value_or(amp.max_iterations);
    amp.tolerance = options.tolerance.value_or(amp.tolerance);
    if (!options.train_signals.empty()) {
        const DataSet pairs = training_pairs(options, task, pool);
        amp.prior = BernoulliGaussian::of(pairs.x, task.op.structure(), task.grouping);
        amp = best_amp(solver, pairs, amp, pool).options;
    }
    return solver.solve(task.measured, amp, pool);
}

Solution solve_by_support_detection(const SolveOptions& options, const SolveTask& task,
                                    ThreadPool& pool) {
    if (!task.x.complex)
        fail_usage(
            "solver 'support-detection' finds the paths of complex channels, and these "
            "signals are real",
            "give complex measurements, or use solver 'omp'");
    if (task.grouping.rows != task.op.structure().repeat())
        fail_usage(
            "solver 'support-detection' sees one channel per row",
            fmt::format("give --vectors {} where the vectors share their paths, or each as a "
                        "row of its own",
                        task.x.vectors));
    const SupportDetection solver(task.op, task.grouping, pool);
    SupportDetectionOptions chosen;
    chosen.paths = *options.paths;
    chosen.width = options.width.value_or(chosen.width);
    if (!options.train_signals.empty())
        chosen =
            best_width(solver, training_pairs(options, task, pool), chosen.paths, pool).options;
    return solver.solve(task.measured, chosen, pool);
}

LinearEstimator fit_linear(const SolveOptions& options, const SolveTask& task, ThreadPool& pool) {
    if (options.train_signals.empty())
        return LinearEstimator::from_prior(task.op, options.noise(), pool);
    return LinearEstimator::fit(task.op.structure(), training_pairs(options, task, pool), {}, pool);
}

Solution solve(const SolveOptions& options, SolverKind kind, const SolveTask& task,
               ThreadPool& pool) {
    const std::size_t rows = task.measured.rows();
    switch (kind) {
        case SolverKind::omp:
            return solve_by_omp(options, task, pool);
        case SolverKind::amp:
        case SolverKind::bg_amp:
            return solve_by_amp(options, kind, task, pool);
        case SolverKind::linear:
            return {fit_linear(options, task, pool).recover(task.measured, pool),
                    {rows, rows, 1, 1.0}};
        case SolverKind::support_detection:
            return solve_by_support_detection(options, task, pool);
        case SolverKind::ista:
        case SolverKind::fista:
            break;
    }
    return solve_lasso(task.op, task.measured, lasso_options(options, kind, task.grouping), pool);
}

}  // namespace

void run_solve(const Arguments& arguments) {
    CommandLine line(
        "solve",
        "Recovers signals with one of the solvers you would pick instead of a network: "
        "ISTA, FISTA, orthogonal matching pursuit, approximate message passing with soft "
        "thresholds or for Bernoulli-Gaussian signals, the best linear estimator, or support "
        "detection of channels in beamspace. Complex measurements give complex signals, whose "
        "entries count as groups of their two parts, unless --real-signals is given.",
        "pibinn solve --solver omp --operator A.npy --in y.npy --out x.npy");
    SolveOptions options;
    options.add_to(line);
    if (!line.parse(arguments)) return;
    Console console(line.output());
    const SolverKind kind = parse_solver_kind(options.solver);
    options.require_fitting(line, kind);
    if (options.repeat == 0) fail_usage("--repeat 0", "give the number of blocks");
    require_array_output(options.out);
    require_other_file(options.out,
                       {options.operator_file, options.in, options.train_signals, options.signals});

    const SolveTask task = read_task(options);
    const std::size_t rows = task.measured.rows();
    Batch truth;
    if (!options.signals.empty()) truth = read_rows(options.signals, task.signals(), task.text);
    if (!options.signals.empty() && truth.rows() != rows)
        fail_input(fmt::format("{} measurements but {} signals ('{}')", rows, truth.rows(),
                               options.signals),
                   "row i of the measurements must belong to row i of the signals");
    ThreadPool pool(line.threads());
    Solution solution;
    const double microseconds =
        microseconds_once(rows, [&] { solution = solve(options, kind, task, pool); });
    require_recovered(solution.x);
    write_rows(options.out, solution.x, task.x);
    console.note(task.note);

    const SolveInfo& info = solution.info;
    nlohmann::ordered_json json{{"out", options.out},
                                {"solver", options.solver},
                                {"signals", info.signals},
                                {"complex", task.x.complex},
                                {"vectors", task.x.vectors},
                                {"converged", info.converged},
                                {"max_iterations", info.max_iterations},
                                {"mean_iterations", info.mean_iterations},
                                {"microseconds_per_signal", microseconds}};
    console.say(
        fmt::format("{}: {} signals by {}, {} converged; {:.1f} iterations per signal, batch time "
                    "{:.2f} us per signal over {} thread(s)\n",
                    options.out, info.signals, options.solver, info.converged, info.mean_iterations,
                    microseconds, pool.threads()));
    if (!options.signals.empty()) {
        const Metrics metrics = measure(truth, solution.x);
        json["nmse_db"] = metrics.nmse_db;
        json["energy_nmse_db"] = metrics.energy_nmse_db;
        json["median_nmse_db"] = metrics.median_nmse_db;
        json["support_f1"] = metrics.support_f1;
        console.say(fmt::format(
            "nmse {:.2f} dB, energy nmse {:.2f} dB, median nmse {:.2f} dB, support F1 {:.4f}\n",
            metrics.nmse_db, metrics.energy_nmse_db, metrics.median_nmse_db, metrics.support_f1));
    }
    console.result(json);
}

}  // namespace pibinn::cli
