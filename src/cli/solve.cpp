#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "model/network_sites.hpp"
#include "pibinn/amp.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/omp.hpp"
#include "pibinn/recoverer.hpp"
#include "problem/array_layout.hpp"
#include "study/operator_source.hpp"
#include "study/stopwatch.hpp"

namespace pibinn::cli {

namespace {

struct SolveOptions {
    std::string solver, operator_file, in, out;
    std::string structure = "dense";
    std::size_t repeat = 1;
    std::optional<double> lambda, relative, tolerance, noise_std, alpha, density, variance;
    std::optional<std::size_t> iterations, sparsity;
    std::string train_signals, signals;
    bool complex = false;  ///< columns of text are pairs

    void add_to(CommandLine& line);
    /// Refuses options that the chosen solver would ignore.
    void require_fitting(CommandLine& line, SolverKind kind) const;
    double noise() const { return noise_std.value_or(0); }
};

void SolveOptions::add_to(CommandLine& line) {
    line.required("--solver", solver, "the method", "ista|fista|omp|amp|bg-amp|linear");
    line.required("--operator", operator_file, "A, m x n (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.required("--in", in, "measurements, one per row");
    line.required("--out", out, "recovered signals (.npy, .npz, .mat, .csv, FILE:NAME)");
    line.optional("--structure", structure,
                  "what --operator holds: A; the block of I (x) A; A of "
                  "equal blocks; A with zeros (dense)",
                  "dense|repeated|blocks|mask");
    line.optional("--repeat", repeat, "blocks of 'repeated' and 'blocks'", "U");
    line.optional("--lambda", lambda, "ista, fista: weight of the l1 norm", "VALUE");
    line.optional("--relative", relative, "ista, fista: the same, as a share of max|A^T y| (0.01)",
                  "SHARE");
    line.optional("--iterations", iterations,
                  "ista, fista: at most so many (1000); amp, bg-amp (100)", "N");
    line.optional("--tolerance", tolerance,
                  "ista, fista (1e-6), amp, bg-amp (1e-5): smallest relative step; omp "
                  "(1e-5): relative residual to stop at",
                  "VALUE");
    line.optional("--sparsity", sparsity, "omp: non-zero entries at most, per block (m)", "S");
    line.optional("--noise-std", noise_std,
                  "deviation of the noise (0). omp stops at |y - A x| = VALUE sqrt(m), the same "
                  "for every signal; bg-amp, linear: part of what they know",
                  "VALUE");
    line.optional("--alpha", alpha, "amp: threshold, in units of the residual's deviation (1.4)",
                  "VALUE");
    line.optional("--density", density, "bg-amp: share of non-zero entries", "SHARE");
    line.optional("--variance", variance, "bg-amp: variance of the non-zero entries (1)", "VALUE");
    line.optional("--train-signals", train_signals,
                  "signals like those to recover. linear learns from them (without: x ~ N(0, I)); "
                  "omp chooses when to stop, amp its alpha, bg-amp takes density and variance",
                  "FILE");
    line.optional("--signals", signals, "the true signals, to report the error", "FILE");
    line.flag("--complex", complex, kComplexHelp);
}

void SolveOptions::require_fitting(CommandLine& line, SolverKind kind) const {
    const bool lasso = kind == SolverKind::ista || kind == SolverKind::fista;
    const bool omp = kind == SolverKind::omp;
    const bool amp = kind == SolverKind::amp;
    const bool bg = kind == SolverKind::bg_amp;
    const bool linear = kind == SolverKind::linear;
    const std::vector<std::pair<const char*, bool>> uses{
        {"--lambda", lasso},
        {"--relative", lasso},
        {"--iterations", lasso || amp || bg},
        {"--tolerance", lasso || omp || amp || bg},
        {"--sparsity", omp},
        // Thresholds of amp follow the residual; its noise makes the measurements to tune by.
        {"--noise-std", linear || omp || bg || (amp && line.given("--train-signals"))},
        {"--alpha", amp},
        {"--density", bg},
        {"--variance", bg},
        {"--train-signals", linear || omp || amp || bg}};
    for (const auto& [flag, used] : uses)
        if (!used && line.given(flag))
            fail_usage(fmt::format("{} has no meaning for solver '{}'", flag, solver),
                       "remove it, or see 'pibinn solve --help'");
    if (lambda && relative)
        fail_usage("--lambda and --relative are both given", "choose one of them");
    for (const char* flag : {"--alpha", "--density", "--variance", "--sparsity"})
        if (line.given(flag) && line.given("--train-signals"))
            fail_usage(fmt::format("{} and --train-signals are both given", flag),
                       "training signals choose it: leave one of them out");
    if (bg && !density && train_signals.empty())
        fail_usage("solver 'bg-amp' has to know how many entries are non-zero",
                   "give --density 0.05, or --train-signals");
    if (!(noise() >= 0))
        fail_usage(fmt::format("--noise-std {} is negative", noise()), "give 0 for no noise");
}

/// What is solved: an operator on rows as they are inside, and how these are laid out.
struct SolveTask {
    Operator op;
    RowLayout layout;
    Grouping grouping;  ///< of complex entries, both parts
    Numbers text = Numbers::real;
    Batch y;

    ExpectedRows signals() const { return {op.cols(), layout, "signal entries"}; }
};

/// Signals are complex where their measurements are.
SolveTask read_task(const SolveOptions& options) {
    SolveTask task;
    task.text = text_numbers(options.complex, {options.operator_file, options.in,
                                               options.train_signals, options.signals});
    task.op = load_operator(options.operator_file, parse_structure_kind(options.structure),
                            options.repeat, task.text);
    ArrayRows y(options.in, task.text);
    if (task.op.structure().is_complex() || y.numbers() == Numbers::complex) {
        task.layout = {true, task.op.structure().repeat()};
        task.op = on_complex_vectors(task.op);
        task.grouping = grouping_of(Groups::complex, task.op.structure());
    }
    task.y = read_rows(y, {task.op.rows(), task.layout, "measurements"}, options.in);
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
    return solver.solve(task.y, omp, pool);
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
    return solver.solve(task.y, amp, pool);
}

LinearEstimator fit_linear(const SolveOptions& options, const SolveTask& task, ThreadPool& pool) {
    if (options.train_signals.empty())
        return LinearEstimator::from_prior(task.op, options.noise(), pool);
    return LinearEstimator::fit(task.op.structure(), training_pairs(options, task, pool), {}, pool);
}

Solution solve(const SolveOptions& options, SolverKind kind, const SolveTask& task,
               ThreadPool& pool) {
    const std::size_t rows = task.y.rows();
    switch (kind) {
        case SolverKind::omp:
            return solve_by_omp(options, task, pool);
        case SolverKind::amp:
        case SolverKind::bg_amp:
            return solve_by_amp(options, kind, task, pool);
        case SolverKind::linear:
            return {fit_linear(options, task, pool).recover(task.y, pool), {rows, rows, 1, 1.0}};
        default:
            return solve_lasso(task.op, task.y, lasso_options(options, kind, task.grouping), pool);
    }
}

}  // namespace

void run_solve(const Arguments& arguments) {
    CommandLine line(
        "solve",
        "Recovers signals with one of the solvers you would pick instead of a network: "
        "ISTA, FISTA, orthogonal matching pursuit, approximate message passing with soft "
        "thresholds or for Bernoulli-Gaussian signals, or the best linear estimator. Complex "
        "measurements give complex signals, whose entries count as groups of their two parts.",
        "pibinn solve --solver omp --operator A.npy --in y.npy --out x.npy");
    SolveOptions options;
    options.add_to(line);
    if (!line.parse(arguments)) return;
    const Console console(line.output());
    const SolverKind kind = parse_solver_kind(options.solver);
    options.require_fitting(line, kind);
    if (options.repeat == 0) fail_usage("--repeat 0", "give the number of blocks");
    require_array_output(options.out);
    require_other_file(options.out,
                       {options.operator_file, options.in, options.train_signals, options.signals});

    const SolveTask task = read_task(options);
    const std::size_t rows = task.y.rows();
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
    write_rows(options.out, solution.x, task.layout);

    const SolveInfo& info = solution.info;
    nlohmann::ordered_json json{{"out", options.out},
                                {"solver", options.solver},
                                {"signals", info.signals},
                                {"complex", task.layout.complex},
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
