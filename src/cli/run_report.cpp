#include "cli/run_report.hpp"

#include <fmt/format.h>

#include "core/file.hpp"
#include "pibinn/version.hpp"
#include "report/training_report.hpp"

namespace pibinn::cli {

namespace {

constexpr std::size_t kShownSignals = 4;

std::vector<RecoveredSignal> shown_signals(const SeedRun& seed, ThreadPool& pool) {
    const std::size_t count = std::min(kShownSignals, seed.problem.test.x.rows());
    const auto y = seed.problem.test.y.view().row_range(0, count);
    const Batch x = recover(seed.result.model, y, pool);
    std::vector<RecoveredSignal> signals;
    for (std::size_t i = 0; i < count; ++i) {
        const auto truth = seed.problem.test.x.row(i);
        const auto found = x.row(i);
        signals.push_back({fmt::format("test signal {}", i + 1),
                           {truth.begin(), truth.end()},
                           {found.begin(), found.end()}});
    }
    return signals;
}

std::string run_report(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                       const Comparison& comparison, ThreadPool& pool) {
    const SeedRun& first = seeds.front();
    const Model& model = first.result.model;
    TrainingReport report;
    report.problem = problem_line(run.config, first.problem);
    report.structure = model.op.structure().kind();
    report.m = model.op.rows();
    report.n = model.op.cols();
    report.repeat = model.op.structure().repeat();
    report.spec = model.spec;
    report.recipe = run.train.recipe;
    report.links = model.links();
    report.bits = count_bits(model);
    report.device = "cpu";
    for (const SeedRun& seed : seeds)
        report.seeds.push_back(SeedReport::of(seed.seed, seed.result));
    report.signals = shown_signals(first, pool);
    for (const Entry& e : comparison.entries()) {
        report.comparison.push_back({e.method, e.metrics.nmse_db, e.metrics.energy_nmse_db,
                                     e.microseconds, e.stored_bits, e.ours});
        if (e.ours) report.microseconds = e.microseconds;
    }
    report.command = run.command + " --out RUN";
    report.version = version();
    return training_report(report);
}

}  // namespace

std::string problem_line(const Config& whole, const Problem& problem) {
    const std::string noise = problem.noise_std > 0
                                  ? fmt::format("noise of deviation {}", problem.noise_std)
                                  : "no noise";
    const ProblemConfig& config = whole.problem;
    const std::string signals = config.kind == ProblemKind::arrays
                                    ? fmt::format("signals of {}", config.x_file)
                                : config.spec.prior.support.empty()
                                    ? fmt::format("synthetic signals, {} % of entries non-zero",
                                                  100 * config.spec.prior.density)
                                    : fmt::format("synthetic signals on a fixed support of {}",
                                                  config.spec.prior.support.size());
    return fmt::format("{}, {}; {} signals to train on, {} to test", signals, noise,
                       problem.train.x.rows(), problem.test.x.rows());
}

nlohmann::ordered_json write_results(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                                     const Comparison& comparison, ThreadPool& pool) {
    nlohmann::ordered_json summary = summary_json(run, seeds);
    summary["comparison"] = comparison.json();
    save_model(seeds.front().result.model, run.folder / "model.safetensors");
    write_file(run.folder / "report.html", run_report(run, seeds, comparison, pool));
    write_file(run.folder / "summary.json", summary.dump(2) + "\n");
    return summary;
}

}  // namespace pibinn::cli
