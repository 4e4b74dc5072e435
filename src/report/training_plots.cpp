#include "report/training_plots.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/numbers.hpp"

namespace pibinn {

namespace {

using Curve = std::vector<double>;

// Entries of a signal that can still be told apart in a figure, and samples of a curve.
constexpr std::size_t kMostEntries = 300;
constexpr std::size_t kMostSamples = 1024;

/// What of a seed is drawn: get(seed) is one curve, its points at 1, 2, ...
template <class Get>
std::vector<Curve> curves_of(const TrainingReport& report, const Get& get) {
    std::vector<Curve> curves;
    for (const SeedReport& seed : report.seeds) {
        Curve curve = get(seed);
        if (!curve.empty()) curves.push_back(std::move(curve));
    }
    return curves;
}

Curve counted(std::size_t count) {
    Curve x;
    for (std::size_t i = 1; i <= count; ++i) x.push_back(static_cast<double>(i));
    return x;
}

/// The mean over the seeds, as far as all of them go.
Curve mean_of(const std::vector<Curve>& curves) {
    std::size_t length = curves.front().size();
    for (const Curve& c : curves) length = std::min(length, c.size());
    Curve mean(length, 0.0);
    for (const Curve& c : curves)
        for (std::size_t i = 0; i < length; ++i) mean[i] += c[i];
    for (double& v : mean) v /= static_cast<double>(curves.size());
    return mean;
}

void add_curves(Plot& plot, const std::string& label, const std::vector<Curve>& curves,
                Series::Style style) {
    if (curves.empty()) return;
    std::size_t color = 0;
    for (const Series& s : plot.series) color = std::max(color, s.color + 1);
    if (curves.size() > 1)
        for (const Curve& c : curves)
            plot.series.push_back({"", counted(c.size()), c, Series::Style::line, color, true});
    const Curve mean = mean_of(curves);
    const std::string name = curves.size() > 1 ? label + ", mean" : label;
    plot.series.push_back({name, counted(mean.size()), mean, style, color, false});
}

/// Values that are only kept from the last measurement would draw stairs where there are none.
void drop_repeats(Series& series) {
    Curve x, y;
    for (std::size_t i = 0; i < series.y.size(); ++i) {
        if (i > 0 && i + 1 < series.y.size() && series.y[i] == series.y[i - 1]) continue;
        x.push_back(series.x[i]);
        y.push_back(series.y[i]);
    }
    series.x = std::move(x);
    series.y = std::move(y);
}

/// A single curve needs no legend: its axis names it.
void drop_lone_legend(Plot& plot) {
    if (plot.series.size() == 1) plot.series.front().label.clear();
}

Plot plot_by(const std::string& x_label, const std::string& y_label) {
    Plot plot;
    plot.x.label = x_label;
    plot.x.whole = true;
    plot.y.label = y_label;
    return plot;
}

/// A vertical line at the first epoch of every stage that was reached.
std::vector<ReferenceLine> stage_lines(const TrainingReport& report) {
    std::vector<ReferenceLine> lines;
    if (report.seeds.empty()) return lines;
    const std::vector<EpochRecord>& history = report.seeds.front().history;
    for (std::size_t i = 0; i < history.size(); ++i) {
        const std::size_t stage = history[i].stage;
        if (i > 0 && history[i - 1].stage == stage) continue;
        const auto& stages = report.recipe.stages;
        lines.push_back({ReferenceLine::Direction::vertical, static_cast<double>(i + 1),
                         stage < stages.size() ? stages[stage].name : std::to_string(stage + 1)});
    }
    return lines;
}

Figure curve_figure(const TrainingReport& report, const std::string& heading,
                    double EpochRecord::*value, Axis::Scale scale, const std::string& y_label,
                    const std::string& label) {
    Figure figure{heading, plot_by("epoch", y_label), {}};
    figure.plot.y.scale = scale;
    figure.plot.lines = stage_lines(report);
    const auto get = [&](const SeedReport& seed) {
        Curve curve;
        for (const EpochRecord& r : seed.history) curve.push_back(r.*value);
        return curve;
    };
    add_curves(figure.plot, label, curves_of(report, get), Series::Style::line);
    for (Series& series : figure.plot.series) drop_repeats(series);
    drop_lone_legend(figure.plot);
    return figure;
}

/// The figure of trained numbers, one per layer or one per piece of every layer; nothing when the
/// network has none.
void add_layer_numbers(std::vector<Figure>& figures, const TrainingReport& report,
                       std::vector<float> SeedReport::*numbers, const std::string& heading,
                       const std::string& letter, const std::string& caption,
                       std::size_t per_layer = 1) {
    Figure figure{heading, plot_by("layer", letter), caption};
    for (std::size_t j = 0; j < per_layer; ++j) {
        const auto get = [&](const SeedReport& seed) {
            Curve curve;
            for (std::size_t at = j; at < (seed.*numbers).size(); at += per_layer)
                curve.push_back((seed.*numbers)[at]);
            return curve;
        };
        add_curves(figure.plot, per_layer > 1 ? fmt::format("piece {}", j + 1) : letter,
                   curves_of(report, get), Series::Style::line_points);
    }
    if (figure.plot.series.empty()) return;
    drop_lone_legend(figure.plot);
    figures.push_back(std::move(figure));
}

/// What a learned shrink of layer k, counted from 0, makes of an entry of size `from`.
double shrunk(const SeedReport& seed, std::size_t pieces, std::size_t k, double from) {
    double to = 0;
    for (std::size_t at = k * pieces; at < (k + 1) * pieces; ++at)
        to += seed.gain[at] * std::max(0.0, from - seed.theta[at]);
    return to;
}

/// The learned shrinks of the first layer, one in the middle and the last, of the first seed.
void add_shrinks(std::vector<Figure>& figures, const TrainingReport& report) {
    constexpr std::size_t points = 200;
    constexpr double beyond = 1.3;  // times the largest threshold
    const std::size_t pieces = report.spec.pieces, layers = report.spec.layers;
    if (report.seeds.empty() || report.spec.activation != Activation::piecewise) return;
    const SeedReport& seed = report.seeds.front();
    if (seed.gain.size() != pieces * layers || seed.theta.size() != seed.gain.size()) return;
    const double end = beyond * *std::max_element(seed.theta.begin(), seed.theta.end());
    Figure figure{"Learned shrink", plot_by("size of an entry", "what it becomes"),
                  report.spec.update.residual_threshold
                      ? "Both in mean absolute residuals of the signal at hand. First seed."
                      : "First seed."};
    figure.plot.x.whole = false;
    std::size_t color = 0;
    for (const std::size_t k : std::set<std::size_t>{1, (layers + 1) / 2, layers}) {
        Series series{fmt::format("layer {}", k), {}, {}, Series::Style::line, color++, false};
        for (std::size_t i = 0; i <= points; ++i) {
            series.x.push_back(end * static_cast<double>(i) / points);
            series.y.push_back(shrunk(seed, pieces, k - 1, series.x.back()));
        }
        figure.plot.series.push_back(std::move(series));
    }
    figures.push_back(std::move(figure));
}

/// The entries that are not zero; zeros would only line the axis.
Series entries(const std::string& label, const std::vector<float>& signal, std::size_t most,
               Series::Style style, std::size_t color) {
    Series series{label, {}, {}, style, color, false};
    for (std::size_t i = 0; i < std::min(signal.size(), most); ++i) {
        if (signal[i] == 0) continue;
        series.x.push_back(static_cast<double>(i + 1));
        series.y.push_back(signal[i]);
    }
    return series;
}

Series samples(const std::string& label, const std::vector<float>& signal, std::size_t color) {
    const std::size_t count = std::min(signal.size(), kMostSamples);
    Series series{label, counted(count), {}, Series::Style::line, color, false};
    series.y.assign(signal.begin(), signal.begin() + static_cast<std::ptrdiff_t>(count));
    return series;
}

std::string shown_part(std::size_t most, std::size_t n, const std::string& noun) {
    return n > most ? fmt::format("The first {} of {} {}.", grouped(most), grouped(n), noun) : "";
}

/// The axes of a signal, which is called by its places where these have a name.
Plot signal_plot(const RecoveredSignal& signal, const char* site) {
    return plot_by(signal.site.empty() ? site : signal.site,
                   signal.value.empty() ? "value" : signal.value);
}

/// Samples in time, or beams beside each other: what was, what was measured, and what came back.
Figure curve_of(const RecoveredSignal& signal) {
    Figure figure{signal.label, signal_plot(signal, "sample"), {}};
    if (!signal.contaminated.empty())
        figure.plot.series.push_back(samples("contaminated", signal.contaminated, 2));
    figure.plot.series.push_back(samples(signal.site.empty() ? "clean" : "truth", signal.truth, 1));
    figure.plot.series.push_back(samples("recovered", signal.recovered, 0));
    figure.plot.x.min = 1;
    const std::size_t n = signal.truth.size();
    figure.plot.x.max = static_cast<double>(std::min(n, kMostSamples));
    figure.caption =
        shown_part(kMostSamples, n, signal.site.empty() ? "samples" : signal.site + "s");
    return figure;
}

}  // namespace

std::vector<Figure> learning_curves(const TrainingReport& report) {
    return {curve_figure(report, "Training loss", &EpochRecord::loss, Axis::Scale::log,
                         fmt::format("loss ({})", to_string(report.recipe.loss)), "loss"),
            curve_figure(report, "Test error", &EpochRecord::test_nmse_db, Axis::Scale::linear,
                         "nmse (dB)", "test nmse")};
}

std::vector<Figure> layer_figures(const TrainingReport& report) {
    std::vector<Figure> figures;
    Figure error{"Error after each layer", plot_by("layer", "nmse (dB)"), {}};
    for (const bool test : {false, true})
        add_curves(error.plot, test ? "test" : "training",
                   curves_of(report,
                             [&](const SeedReport& seed) {
                                 return test ? seed.test_nmse_db_per_layer
                                             : seed.train_nmse_db_per_layer;
                             }),
                   Series::Style::line_points);
    figures.push_back(std::move(error));
    add_layer_numbers(figures, report, &SeedReport::theta, "Thresholds", "threshold θ",
                      report.spec.update.residual_threshold
                          ? "Each multiplies the mean absolute residual of the signal at hand."
                          : "The same for every signal.",
                      std::max<std::size_t>(1, report.spec.thresholds_per_layer()));
    add_shrinks(figures, report);
    add_layer_numbers(figures, report, &SeedReport::beta, "Momentum", "momentum β",
                      "How far a layer goes on in the direction of the last step.");
    add_layer_numbers(figures, report, &SeedReport::omega, "Onsager term", "factor ω",
                      "How much of the last residual a layer takes into its own.");
    return figures;
}

std::vector<Figure> signal_figures(const TrainingReport& report) {
    std::vector<Figure> figures;
    for (const RecoveredSignal& signal : report.signals) {
        if (signal.curve) {
            figures.push_back(curve_of(signal));
            continue;
        }
        Figure figure{signal.label, signal_plot(signal, "entry"), {}};
        const std::size_t n = signal.truth.size();
        // Few of many places have a value where these have a name of their own.
        const std::size_t most = signal.site.empty() ? kMostEntries : kMostSamples;
        figure.plot.x.min = 0;
        figure.plot.x.max = static_cast<double>(std::min(n, most) + 1);
        figure.plot.series.push_back(
            entries("recovered", signal.recovered, most, Series::Style::stems, 0));
        figure.plot.series.push_back(
            entries("truth", signal.truth, most, Series::Style::circles, 1));
        figure.plot.lines.push_back({ReferenceLine::Direction::horizontal, 0, ""});
        // In the legend: a label at the line would lie under the stems.
        if (signal.threshold) {
            const double at = *signal.threshold;
            figure.plot.series.push_back({.label = "active above",
                                          .x = {*figure.plot.x.min, *figure.plot.x.max},
                                          .y = {at, at},
                                          .color = kGrey});
        }
        figure.caption = shown_part(
            most, n, signal.site.empty() || signal.site == "entry" ? "entries" : signal.site + "s");
        figures.push_back(std::move(figure));
    }
    return figures;
}

}  // namespace pibinn
