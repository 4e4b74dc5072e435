#include "report/training_report.hpp"

#include <limits>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "report/html.hpp"
#include "report/training_plots.hpp"

namespace pibinn {

namespace {

template <class Get>
Spread over_seeds(const TrainingReport& report, const Get& get) {
    std::vector<double> values;
    for (const SeedReport& seed : report.seeds) values.push_back(get(seed));
    return spread(values);
}

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// What this network took; dashes where it was not timed.
RecoveryTime time_of(const TrainingReport& report) {
    RecoveryTime time{kNothing, kNothing, 0, 0};
    for (const ComparisonRow& row : report.comparison)
        if (row.ours) time = row.time;
    return time;
}

std::string title_of(const TrainingReport& report) {
    const bool unrolled = report.spec.architecture == Architecture::unrolled;
    return fmt::format("A {} {} network of {} layers", to_string(report.spec.weights),
                       unrolled ? "unrolled" : "fully connected", report.spec.layers);
}

std::string seeds_of(const TrainingReport& report) {
    if (report.seeds.size() == 1) return fmt::format("seed {}", report.seeds.front().seed);
    std::string text;
    for (const SeedReport& seed : report.seeds)
        text += fmt::format("{}{}", text.empty() ? "seeds " : ", ", seed.seed);
    return text;
}

std::vector<std::string> facts_of(const TrainingReport& report) {
    std::vector<std::string> facts;
    facts.push_back(fmt::format("{} × {} {}", report.m, report.n, to_string(report.structure)));
    if (report.repeat > 1)
        facts.push_back(fmt::format("{} × {} block, {} times", report.m / report.repeat,
                                    report.n / report.repeat, report.repeat));
    facts.push_back(fmt::format("{} layers", report.spec.layers));
    facts.push_back(fmt::format("{} weights", to_string(report.spec.weights)));
    if (report.spec.architecture == Architecture::unrolled)
        facts.push_back(fmt::format("{} update", to_string(report.spec.update)));
    facts.push_back(fmt::format("{} activation", to_string(report.spec.activation)));
    facts.push_back(fmt::format("recipe {}", report.recipe.name));
    if (!report.seeds.empty()) facts.push_back(seeds_of(report));
    if (!report.device.empty()) facts.push_back(report.device);
    return facts;
}

std::vector<KeyFigure> key_figures_of(const TrainingReport& report) {
    const auto test = over_seeds(report, [](const auto& s) { return s.test.nmse_db; });
    const auto train = over_seeds(report, [](const auto& s) { return s.train.nmse_db; });
    const auto gap =
        over_seeds(report, [](const auto& s) { return s.test.nmse_db - s.train.nmse_db; });
    const auto energy = over_seeds(report, [](const auto& s) { return s.test.energy_nmse_db; });
    const auto median = over_seeds(report, [](const auto& s) { return s.test.median_nmse_db; });
    const auto seconds = over_seeds(report, [](const SeedReport& s) {
        double sum = 0;
        for (const auto& stage : s.seconds) sum += stage.second;
        return sum;
    });
    const RecoveryTime time = time_of(report);
    return {{"Test nmse", decimal(test, 2), "dB",
             fmt::format("{} dB by energy, median {} dB", decimal(energy, 2), decimal(median, 2))},
            {"Training nmse", decimal(train, 2), "dB", "on the signals it learned from"},
            {"Gap", decimal(gap, 2), "dB", "test above training"},
            {"Latency", rounded(time.latency_us), "us", "one signal alone, one thread"},
            {"Batch time", rounded(time.batch_us), "us per signal",
             time.batch == 0 ? ""
                             : fmt::format("of {} signals over {} thread{}", time.batch,
                                           time.threads, time.threads == 1 ? "" : "s")},
            {"Stored, the paper's way", grouped(report.bits.paper), "bits",
             bytes_of_bits(report.bits.paper) + ": weights and thresholds"},
            {"Stored in all", grouped(report.bits.total), "bits",
             bytes_of_bits(report.bits.total) + ", operator and scales included"},
            {"Links", grouped(report.links), "", "weights of all layers that the structure allows"},
            {"Training time", decimal(seconds, 1), "s", "per seed"}};
}

Table seeds_table(const TrainingReport& report) {
    Table table;
    table.columns = {{"Seed", true},
                     {"test nmse (dB)", true},
                     {"training nmse (dB)", true},
                     {"test energy nmse (dB)", true},
                     {"test median nmse (dB)", true},
                     {"support F1", true},
                     {"scale λ", true}};
    for (const SeedReport& s : report.seeds)
        table.rows.push_back(
            {{std::to_string(s.seed), decimal(s.test.nmse_db, 2), decimal(s.train.nmse_db, 2),
              decimal(s.test.energy_nmse_db, 2), decimal(s.test.median_nmse_db, 2),
              decimal(s.test.support_f1, 3), s.scale > 0 ? rounded(s.scale) : "–"},
             false});
    return table;
}

Table stages_table(const TrainingReport& report) {
    Table table;
    table.columns = {{"Stage", false},    {"epochs", true},      {"learning rate", true},
                     {"schedule", false}, {"projection", false}, {"seconds", true}};
    for (std::size_t i = 0; i < report.recipe.stages.size(); ++i) {
        const Stage& stage = report.recipe.stages[i];
        const Spread seconds = over_seeds(report, [&](const SeedReport& s) {
            return i < s.seconds.size() ? s.seconds[i].second : kNothing;
        });
        table.rows.push_back(
            {{stage.name, grouped(stage.epochs), fmt::format("{:g}", stage.learning_rate),
              std::string(to_string(stage.schedule)), std::string(to_string(stage.projection)),
              decimal(seconds, 1)},
             false});
    }
    return table;
}

}  // namespace

SeedReport SeedReport::of(std::uint64_t seed, const TrainResult& result) {
    const Model& model = result.model;
    return {seed,
            result.train,
            result.test,
            result.train_nmse_db_per_layer,
            result.test_nmse_db_per_layer,
            result.history,
            result.seconds,
            model.scale(),
            model.theta,
            model.gain,
            model.beta,
            model.omega};
}

std::string training_report(const TrainingReport& report) {
    Page page("pibinn training report", title_of(report), facts_of(report));
    if (!report.problem.empty()) page.paragraph(report.problem);
    page.key_figures(key_figures_of(report));

    if (!report.comparison.empty()) {
        page.section("Beside what you would pick instead",
                     "The same test signals by other methods. nmse is the energy of the error over "
                     "the energy of the signal: lower is better. Its mean over the signals can be "
                     "that of a few bad ones; the median is what a typical signal sees.");
        page.table(comparison_table(report.comparison));
        for (const std::string& note :
             {row_notes(report.comparison), activity_note(report.comparison),
              fewer_signals_note(report.comparison), settings_note(report.comparison)})
            if (!note.empty()) page.paragraph(note);
        page.paragraph(fmt::format("Times: {}.", times_note(report.comparison)));
    }
    page.section("Learning curve", report.seeds.size() > 1
                                       ? "One thin curve per seed; dashed lines mark the stages."
                                       : "Dashed lines mark the stages.");
    page.figures(learning_curves(report));
    page.section("Layer by layer");
    page.figures(layer_figures(report));
    if (!report.signals.empty()) {
        page.section("Recovered signals", "Signals of the test set that training never saw.");
        page.figures(signal_figures(report));
    }
    if (!report.picture_png.empty()) {
        page.section("Recovered patches", "Patches of the test set that training never saw.");
        page.picture(report.picture_png, report.picture_caption);
    }
    if (report.seeds.size() > 1) {
        page.section("Seeds", "Above: mean ± standard deviation over the seeds.");
        page.table(seeds_table(report));
    }
    page.section("How it was made",
                 fmt::format("Recipe {}: {} loss, batches of {}, augmentation {}.",
                             report.recipe.name, to_string(report.recipe.loss), report.recipe.batch,
                             to_string(report.recipe.augment)));
    page.table(stages_table(report));
    if (!report.command.empty()) page.code(report.command);
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
