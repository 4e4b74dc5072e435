#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "cli/arrays.hpp"
#include "cli/model_text.hpp"
#include "cli/options.hpp"
#include "cli/problem_source.hpp"
#include "cli/stopwatch.hpp"
#include "cli/table.hpp"
#include "core/file.hpp"
#include "pibinn/lasso.hpp"
#include "pibinn/linear.hpp"
#include "pibinn/metrics.hpp"
#include "pibinn/model.hpp"
#include "pibinn/omp.hpp"

namespace pibinn::cli {

namespace {

using nlohmann::ordered_json;

/// Weights are chosen on so many training signals, never on the signals that judge.
constexpr std::size_t kTuningSignals = 500;
constexpr std::array kLambdas{0.003, 0.006, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15};
constexpr std::array kThetas{0.003, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2};
constexpr std::size_t kLayers = 10;
constexpr std::size_t kMethods = 8;

/// One line of the comparison.
struct Entry {
    std::string method;
    Metrics metrics;
    double microseconds = 0;
    std::size_t stored_bits = 0;
};

/// The problem, the judge, and what was found so far.
class Comparison {
public:
    Comparison(Problem problem, Console& console, ThreadPool& pool)
        : problem_(std::move(problem)), console_(console), pool_(pool) {
        const std::size_t rows = std::min(kTuningSignals, problem_.train.x.rows());
        tuning_.x = copy(problem_.train.x.view().row_range(0, rows));
        tuning_.y = copy(problem_.train.y.view().row_range(0, rows));
    }

    void add_lasso(LassoMethod method, std::size_t iterations) {
        LassoOptions options;
        options.method = method;
        options.max_iterations = iterations;
        options.tolerance = 0;
        options.lambda = best_lambda(problem_.op, tuning_, kLambdas, options, pool_).lambda;
        add(fmt::format("{}, {} iterations", method == LassoMethod::ista ? "ISTA" : "FISTA",
                        iterations),
            operator_bits() + 32,
            [&] { return solve_lasso(problem_.op, problem_.test.y, options, pool_).x; });
    }

    void add_omp() {
        const OmpSolver solver(problem_.op, pool_);
        add("OMP", operator_bits(), [&] { return solver.solve(problem_.test.y, {}, pool_).x; });
    }

    void add_linear() {
        const auto estimator =
            LinearEstimator::fit(problem_.op.structure(), problem_.train, {}, pool_);
        add("linear MMSE", estimator.stored_bits(),
            [&] { return estimator.recover(problem_.test.y, pool_); });
    }

    /// The network as training starts from it: its only tuned number is the threshold.
    Model add_untrained(WeightKind weights) {
        NetworkSpec spec;
        spec.layers = kLayers;
        spec.weights = weights;
        spec.update = Update::plain();
        Model best;
        double best_nmse = 0;
        for (const double theta : kThetas) {
            Model model = untrained_model(spec, problem_.op, theta);
            const double nmse = measure(tuning_.x, recover(model, tuning_.y, pool_)).nmse_db;
            if (best.weights.empty() || nmse < best_nmse) {
                best = std::move(model);
                best_nmse = nmse;
            }
        }
        add(fmt::format("{} network, {} layers, untrained", to_string(weights), kLayers),
            count_bits(best).total, [&] { return recover(best, problem_.test.y, pool_); });
        return best;
    }

    const std::vector<Entry>& entries() const { return entries_; }
    const Problem& problem() const { return problem_; }

private:
    static Batch copy(ConstBatchView rows) {
        Batch to(rows.rows, rows.cols);
        for (std::size_t i = 0; i < rows.rows; ++i)
            std::copy_n(rows.row(i).begin(), rows.cols, to.row(i).begin());
        return to;
    }

    std::size_t operator_bits() const { return 32 * problem_.op.structure().links(); }

    void add(std::string method, std::size_t stored_bits, const std::function<Batch()>& solve) {
        Batch estimate;
        const double microseconds =
            microseconds_each(problem_.test.x.rows(), [&] { estimate = solve(); });
        entries_.push_back(
            {std::move(method), measure(problem_.test.x, estimate), microseconds, stored_bits});
        console_.progress({"demo", entries_.size(), kMethods, entries_.back().method});
    }

    Problem problem_;
    DataSet tuning_;
    Console& console_;
    ThreadPool& pool_;
    std::vector<Entry> entries_;
};

std::string table_of(const std::vector<Entry>& entries) {
    Table table({"method", "nmse dB", "energy nmse dB", "us a signal", "stored bits"});
    for (const Entry& e : entries)
        table.add({e.method, fmt::format("{:.2f}", e.metrics.nmse_db),
                   fmt::format("{:.2f}", e.metrics.energy_nmse_db),
                   fmt::format("{:.2f}", e.microseconds), grouped(e.stored_bits)});
    return table.text();
}

ordered_json json_of(const Comparison& comparison, std::uint64_t seed, std::size_t threads) {
    const Problem& problem = comparison.problem();
    ordered_json rows = ordered_json::array();
    for (const Entry& e : comparison.entries())
        rows.push_back({{"method", e.method},
                        {"nmse_db", e.metrics.nmse_db},
                        {"energy_nmse_db", e.metrics.energy_nmse_db},
                        {"support_f1", e.metrics.support_f1},
                        {"microseconds_per_signal", e.microseconds},
                        {"stored_bits", e.stored_bits}});
    return {{"problem",
             {{"m", problem.op.rows()},
              {"n", problem.op.cols()},
              {"density", SparsePrior{}.density},
              {"train", problem.train.x.rows()},
              {"test", problem.test.x.rows()},
              {"seed", seed}}},
            {"threads", threads},
            {"rows", rows}};
}

}  // namespace

void run_demo(const Arguments& arguments) {
    CommandLine line("demo",
                     "Solves the embedded default problem (50 x 100, 5 % of entries non-zero, 4000 "
                     "training and 1000 test signals) by every method and prints the comparison.",
                     "pibinn demo --out demo");
    std::string folder;
    line.required("--out", folder, "folder for demo.json and the model; made if missing", "DIR");
    if (!line.parse(arguments)) return;
    Console console(line.speech());
    console.progress({"demo", 0, kMethods, "problem"});
    make_folder(folder);
    ThreadPool pool(line.threads());
    const Config config;

    Comparison comparison(make_problem(config, pool), console, pool);
    for (const std::size_t iterations : {20, 100}) {
        comparison.add_lasso(LassoMethod::ista, iterations);
        comparison.add_lasso(LassoMethod::fista, iterations);
    }
    comparison.add_omp();
    comparison.add_linear();
    comparison.add_untrained(WeightKind::real);
    Model model = comparison.add_untrained(WeightKind::one_bit);
    console.clear_progress();

    const std::filesystem::path out = folder;
    model.metadata["pibinn.recipe"] = "untrained";
    model.metadata["pibinn.seed"] = std::to_string(config.seed);
    save_model(model, out / "untrained.safetensors");
    const ordered_json json = json_of(comparison, config.seed, pool.threads());
    write_file(out / "demo.json", json.dump(2) + "\n");

    console.say(
        fmt::format("{} test signals of {} entries from {} measurements each, without noise\n\n{}\n"
                    "Solvers use the best of {} lambdas, networks the best of {} thresholds, "
                    "chosen on training "
                    "signals.\nTimes are per signal of the whole test batch on {} thread(s).\n"
                    "Written: {}\n         {}\n",
                    comparison.problem().test.x.rows(), comparison.problem().op.cols(),
                    comparison.problem().op.rows(), table_of(comparison.entries()), kLambdas.size(),
                    kThetas.size(), pool.threads(), (out / "demo.json").string(),
                    (out / "untrained.safetensors").string()));
    console.result(json);
}

}  // namespace pibinn::cli
