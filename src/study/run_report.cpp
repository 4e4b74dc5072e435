#include "study/run_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/file.hpp"
#include "core/numbers.hpp"
#include "pibinn/image.hpp"
#include "pibinn/recoverer.hpp"
#include "pibinn/version.hpp"
#include "problem/site_magnitudes.hpp"
#include "report/training_report.hpp"
#include "study/radio_words.hpp"
#include "study/real_source.hpp"

namespace pibinn::study {

namespace {

constexpr std::size_t kShownSignals = 4;
constexpr std::size_t kShownPatches = 16;
constexpr std::size_t kPatchGap = 4;

std::vector<float> row_of(const Batch& batch, std::size_t i) {
    return {batch.row(i).begin(), batch.row(i).end()};
}

/// The first test signals: clean, as they were when they were measured, and recovered.
struct Shown {
    Batch truth, contaminated, adjoint, recovered;
};

Shown shown_rows(const SeedRun& seed, std::size_t most, ThreadPool& pool) {
    const Problem& problem = *seed.problem;
    const std::size_t count = std::min(most, problem.test.x.rows());
    const auto y = problem.test.y.view().row_range(0, count);
    Batch clean(count, problem.test.x.cols());
    std::copy_n(problem.test.x.data(), clean.size(), clean.data());
    Batch contaminated = clean;
    disturb(problem.test_disturbance, contaminated, seed.seed, Purpose::test_disturbance, 0, pool);
    const SignalDomain& domain = problem.domain;
    return {domain.to_signals(clean, pool), domain.to_signals(contaminated, pool),
            domain.to_signals(problem.op.adjoint(y, pool), pool),
            Recoverer(seed.result.model)(y, pool)};
}

/// Magnitudes at the sites of complex vectors: beams, users, frequencies.
std::vector<RecoveredSignal> shown_magnitudes(const SeedRun& seed, const Comparison& comparison,
                                              ThreadPool& pool) {
    const Problem& problem = *seed.problem;
    const Shown shown = shown_rows(seed, kShownSignals, pool);
    const RowLayout layout = problem.domain.signal_rows();
    const bool beams = problem.prior && std::holds_alternative<BeamspacePrior>(*problem.prior);
    const bool users = problem.prior && std::holds_alternative<AccessPrior>(*problem.prior);
    std::vector<RecoveredSignal> signals;
    for (std::size_t i = 0; i < shown.truth.rows(); ++i) {
        RecoveredSignal signal{fmt::format("test signal {}", i + 1),
                               site_magnitudes(layout, shown.truth.row(i)),
                               site_magnitudes(layout, shown.recovered.row(i)),
                               {},
                               beams};
        signal.site = beams ? "beam" : users ? "user" : "entry";
        signal.value = "magnitude";
        if (const auto activity = comparison.own_activity()) signal.threshold = activity->threshold;
        signals.push_back(std::move(signal));
    }
    return signals;
}

std::vector<RecoveredSignal> shown_signals(const SeedRun& seed, ThreadPool& pool) {
    const Shown shown = shown_rows(seed, kShownSignals, pool);
    std::vector<RecoveredSignal> signals;
    for (std::size_t i = 0; i < shown.truth.rows(); ++i) {
        RecoveredSignal signal{fmt::format("test signal {}", i + 1),
                               row_of(shown.truth, i),
                               row_of(shown.recovered, i),
                               {},
                               !seed.problem->domain.plain()};
        if (!seed.problem->test_disturbance.none())
            signal.contaminated = row_of(shown.contaminated, i);
        signals.push_back(std::move(signal));
    }
    return signals;
}

/// Four rows of patches, each pixel a square.
Image patch_picture(const SeedRun& seed, ThreadPool& pool) {
    const Shown shown = shown_rows(seed, kShownPatches, pool);
    const SignalDomain& domain = seed.problem->domain;
    // Patches without their own mean are shown around grey.
    const float grey = domain.normalize == Normalize::patch ? 0.5F : 0.0F;
    const std::size_t pixel = std::max<std::size_t>(1, 48 / domain.patch);
    const std::size_t side = pixel * domain.patch;
    const std::size_t step = side + kPatchGap;
    Image picture(4 * step - kPatchGap, shown.truth.rows() * step - kPatchGap);
    std::fill(picture.values().begin(), picture.values().end(), 1.0F);
    std::size_t top = 0;
    for (const Batch* rows :
         {&shown.truth, &shown.contaminated, &shown.adjoint, &shown.recovered}) {
        for (std::size_t p = 0; p < rows->rows(); ++p)
            for (std::size_t i = 0; i < side; ++i)
                for (std::size_t j = 0; j < side; ++j)
                    picture(top + i, p * step + j) =
                        grey + (*rows)(p, i / pixel * domain.patch + j / pixel);
        top += step;
    }
    return picture;
}

/// What is known of the noise of the measurements.
std::string noise_line(const Problem& problem) {
    if (problem.given_measurements)
        return problem.unexplained > 0 ? fmt::format("given measurements, noise at {:.1f} dB",
                                                     -to_db(problem.unexplained))
                                       : "given measurements, no noise";
    if (problem.snr_db) return fmt::format("noise at {}", decibels(*problem.snr_db));
    return problem.noise_std > 0 ? fmt::format("noise of deviation {}", problem.noise_std)
                                 : "no noise";
}

std::string run_report(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                       const Comparison& comparison, ThreadPool& pool) {
    const SeedRun& first = seeds.front();
    const Model& model = first.result.model;
    TrainingReport report;
    report.problem = problem_line(run.config, *first.problem);
    if (!first.problem->exchangeability.empty())
        report.problem += fmt::format("; {}", first.problem->exchangeability);
    if (const std::string notes = short_notes(*first.problem); !notes.empty())
        report.problem += fmt::format("; {}", notes);
    for (const std::string& warning : warnings_of(seeds))
        report.problem += fmt::format("; warning: {}", warning);
    report.structure = model.op.structure().kind();
    report.m = model.op.rows();
    report.n = model.op.cols();
    report.repeat = model.op.structure().repeat();
    report.spec = model.spec;
    report.recipe = run.train.recipe;
    if (report.recipe.batch == 0) report.recipe.batch = usual_batch(*first.problem, report.recipe);
    report.links = model.links();
    report.bits = count_bits(model);
    report.device = run.device;
    for (const SeedRun& seed : seeds)
        report.seeds.push_back(SeedReport::of(seed.seed, seed.result));
    if (first.problem->domain.patch > 0) {
        report.picture_png = encode_png(patch_picture(first, pool));
        report.picture_caption =
            "From above: the patch, the patch with its noise, the naive adjoint, recovered.";
    } else if (!first.problem->domain.one_real_vector()) {
        report.signals = shown_magnitudes(first, comparison, pool);
    } else {
        report.signals = shown_signals(first, pool);
    }
    report.comparison = comparison.rows();
    report.command = run.command + " --out RUN";
    report.version = version();
    return training_report(report);
}

}  // namespace

std::string problem_line(const Config& whole, const Problem& problem) {
    if (!problem.protocol.empty()) return problem.protocol;
    const std::string noise = noise_line(problem);
    const ProblemConfig& config = whole.problem;
    const std::string signals = config.kind == ProblemKind::arrays
                                    ? fmt::format("signals of {}", config.x_file)
                                : is_radio(config.kind) ? radio_words(config)
                                : config.spec.prior.support.empty()
                                    ? fmt::format("synthetic signals, {} % of entries non-zero",
                                                  100 * config.spec.prior.density)
                                    : fmt::format("synthetic signals on a fixed support of {}",
                                                  config.spec.prior.support.size());
    // The last links of a drawn mask are those that leave no row or column without one.
    const Structure& s = problem.op.structure();
    const std::string mask =
        s.kind() == StructureKind::mask
            ? fmt::format(", a mask with {:.3g} % of the links", 100 * link_density(s))
            : "";
    return fmt::format("{}{}, {}; {} signals to train on, {} to test", signals, mask, noise,
                       problem.train.x.rows(), problem.test.x.rows());
}

Comparison compare_run(const TrainingRun& run, const SeedRun& first, ThreadPool& pool) {
    Comparison comparison(*first.problem, pool);
    comparison.add_references(run.config.model.layers);
    comparison.add_trained("this network", first.result);
    return comparison;
}

nlohmann::ordered_json write_results(const TrainingRun& run, const std::vector<SeedRun>& seeds,
                                     const Comparison& comparison, ThreadPool& pool) {
    nlohmann::ordered_json summary = summary_json(run, seeds);
    if (const auto activity = comparison.own_activity())
        summary["activity"] = activity_json(*activity);
    summary["comparison"] = comparison.json();
    seeds.front().result.model.save(run.folder / "model.safetensors");
    write_file(run.folder / "report.html", run_report(run, seeds, comparison, pool));
    write_file(run.folder / "summary.json", summary.dump(2) + "\n");
    return summary;
}

}  // namespace pibinn::study
