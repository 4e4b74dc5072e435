#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/arrays.hpp"
#include "cli/options.hpp"
#include "pibinn/array.hpp"
#include "pibinn/error.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/omp.hpp"
#include "study/operator_source.hpp"
#include "study/stopwatch.hpp"

namespace pibinn::cli {

namespace {

struct SolveOptions {
    std::string solver, operator_file, in, out;
    std::string structure = "dense";
    std::size_t repeat = 1;
    std::optional<double> lambda, relative, tolerance, noise_std;
    std::optional<std::size_t> iterations, sparsity;
    std::string train_signals, signals;

    void add_to(CommandLine& line);
    /// Refuses options that the chosen solver would ignore.
    void require_fitting(CommandLine& line, SolverKind kind) const;
};

void SolveOptions::add_to(CommandLine& line) {
    line.required("--solver", solver, "the method", "ista|fista|omp|linear");
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
    line.optional("--iterations", iterations, "ista, fista: at most so many (1000)", "N");
    line.optional("--tolerance", tolerance,
                  "ista, fista (1e-6): smallest relative step; omp "
                  "(1e-5): relative residual to stop at",
                  "VALUE");
    line.optional("--sparsity", sparsity, "omp: non-zero entries at most (m)", "S");
    line.optional("--noise-std", noise_std, "linear: deviation of the noise (0)", "VALUE");
    line.optional("--train-signals", train_signals,
                  "linear: signals to learn from; without them x ~ N(0, I)", "FILE");
    line.optional("--signals", signals, "the true signals, to report the error", "FILE");
}

void SolveOptions::require_fitting(CommandLine& line, SolverKind kind) const {
    const bool lasso = kind == SolverKind::ista || kind == SolverKind::fista;
    const bool omp = kind == SolverKind::omp;
    const bool linear = kind == SolverKind::linear;
    const std::vector<std::pair<const char*, bool>> uses{
        {"--lambda", lasso},           {"--relative", lasso}, {"--iterations", lasso},
        {"--tolerance", lasso || omp}, {"--sparsity", omp},   {"--noise-std", linear},
        {"--train-signals", linear}};
    for (const auto& [flag, used] : uses)
        if (!used && line.given(flag))
            fail_usage(fmt::format("{} has no meaning for solver '{}'", flag, solver),
                       "remove it, or see 'pibinn solve --help'");
    if (lambda && relative)
        fail_usage("--lambda and --relative are both given", "choose one of them");
}

LassoOptions lasso_options(const SolveOptions& options, SolverKind kind) {
    LassoOptions lasso;
    lasso.method = kind == SolverKind::ista ? LassoMethod::ista : LassoMethod::fista;
    lasso.unit = options.lambda ? LambdaUnit::absolute : LambdaUnit::relative;
    lasso.lambda = options.lambda ? *options.lambda : options.relative.value_or(lasso.lambda);
    lasso.max_iterations = options.iterations.value_or(lasso.max_iterations);
    lasso.tolerance = options.tolerance.value_or(lasso.tolerance);
    return lasso;
}

LinearEstimator fit_linear(const SolveOptions& options, const Operator& op, ThreadPool& pool) {
    const double noise_std = options.noise_std.value_or(0);
    if (!(noise_std >= 0))
        fail_usage(fmt::format("--noise-std {} is negative", noise_std), "give 0 for no noise");
    if (options.train_signals.empty()) return LinearEstimator::from_prior(op, noise_std, pool);
    DataSet pairs;
    pairs.x = read_rows(options.train_signals, op.cols(), "signal entries");
    pairs.y = op.apply(pairs.x, pool);
    add_noise(pairs.y, noise_std, 1, Purpose::train_noise, pool);
    return LinearEstimator::fit(op.structure(), pairs, {}, pool);
}

Solution solve(const SolveOptions& options, SolverKind kind, const Operator& op, const Batch& y,
               ThreadPool& pool) {
    switch (kind) {
        case SolverKind::omp: {
            OmpOptions omp;
            omp.sparsity = options.sparsity.value_or(omp.sparsity);
            omp.tolerance = options.tolerance.value_or(omp.tolerance);
            return solve_omp(op, y, omp, pool);
        }
        case SolverKind::linear:
            return {fit_linear(options, op, pool).recover(y, pool), {y.rows(), y.rows(), 1, 1.0}};
        default:
            return solve_lasso(op, y, lasso_options(options, kind), pool);
    }
}

}  // namespace

void run_solve(const Arguments& arguments) {
    CommandLine line(
        "solve",
        "Recovers signals with one of the solvers you would pick instead of a network: "
        "ISTA, FISTA, orthogonal matching pursuit, or the best linear estimator.",
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

    const Operator op = load_operator(options.operator_file,
                                      parse_structure_kind(options.structure), options.repeat);
    const Batch y = read_rows(options.in, op.rows(), "measurements");
    Batch truth;
    if (!options.signals.empty()) truth = read_rows(options.signals, op.cols(), "signal entries");
    if (!options.signals.empty() && truth.rows() != y.rows())
        fail_input(fmt::format("{} measurements but {} signals ('{}')", y.rows(), truth.rows(),
                               options.signals),
                   "row i of the measurements must belong to row i of the signals");
    ThreadPool pool(line.threads());
    Solution solution;
    const double microseconds =
        microseconds_once(y.rows(), [&] { solution = solve(options, kind, op, y, pool); });
    write_array(options.out, solution.x);

    const SolveInfo& info = solution.info;
    nlohmann::ordered_json json{{"out", options.out},
                                {"solver", options.solver},
                                {"signals", info.signals},
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
        json["support_f1"] = metrics.support_f1;
        console.say(fmt::format("nmse {:.2f} dB, energy nmse {:.2f} dB, support F1 {:.4f}\n",
                                metrics.nmse_db, metrics.energy_nmse_db, metrics.support_f1));
    }
    console.result(json);
}

}  // namespace pibinn::cli
