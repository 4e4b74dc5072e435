#include "report/certificate_report.hpp"

#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/numbers.hpp"

namespace pibinn {

namespace {

template <class Items, class Get>
std::vector<double> numbers(const Items& items, const Get& get) {
    std::vector<double> out;
    for (const auto& item : items) out.push_back(static_cast<double>(std::invoke(get, item)));
    return out;
}

Series by_layer(const std::string& label, std::vector<double> y, std::size_t color) {
    Series series;
    series.label = label;
    for (std::size_t k = 1; k <= y.size(); ++k) series.x.push_back(static_cast<double>(k));
    series.y = std::move(y);
    series.style = Series::Style::line_points;
    series.color = color;
    return series;
}

Plot layers_plot(const std::string& label, Axis::Scale scale) {
    Plot plot;
    plot.x.label = "layer";
    plot.x.whole = true;
    plot.y.label = label;
    plot.y.scale = scale;
    return plot;
}

std::vector<double> soft_terms(const Certificate& c) {
    return numbers(c.terms.layers, [&](const LayerTerms& layer) {
        return layer.f + layer.mu * static_cast<double>(c.support_size);
    });
}

Figure threshold_figure(const Certificate& c) {
    Figure figure{"Thresholds", layers_plot("θ", Axis::Scale::log), {}};
    auto& series = figure.plot.series;
    series.push_back(by_layer("learned", numbers(c.terms.layers, &LayerTerms::theta), 0));
    series.push_back(by_layer("needed for a proof", c.bound.theta_needed, 1));
    if (c.spec.update.is_plain()) series.push_back(by_layer("asked by eq. to7", c.asked.theta, 2));
    figure.caption = "A support is provably kept where the learned threshold is the highest.";
    return figure;
}

Figure response_figure(const Certificate& c) {
    Figure figure{"Stability and sensitivity", layers_plot("bound", Axis::Scale::log), {}};
    auto& series = figure.plot.series;
    const auto last = [&](const Matrix<double>& values) {
        const auto row = values.row(values.rows() - 1);
        return std::vector<double>(row.begin(), row.end());
    };
    series.push_back(by_layer("Stab Q(k)", c.response->stab_q, 0));
    series.push_back(by_layer("Stab b(k)", c.response->stab_b, 1));
    series.push_back(by_layer("Sens W_i(K)", last(c.response->sens_w), 2));
    series.push_back(by_layer("Sens θ_i(K)", last(c.response->sens_theta), 3));
    figure.caption =
        "Stability: of layer k. Sensitivity: of the last layer to parameters of layer i. Valid "
        "where both networks keep the support.";
    return figure;
}

Table layer_table(const Certificate& c) {
    Table table;
    table.columns = {{"Layer", true},    {"f", true},     {"f + µs", true}, {"θ learned", true},
                     {"θ needed", true}, {"bound", true}, {"Cvg", true},    {"measured", true},
                     {"leaks", true},    {"misses", true}};
    const auto soft = soft_terms(c);
    for (std::size_t k = 0; k < c.measured.size(); ++k)
        table.rows.push_back(
            {{std::to_string(k + 1), rounded(c.terms.layers[k].f), rounded(soft[k]),
              rounded(c.terms.layers[k].theta), rounded(c.bound.theta_needed[k]),
              rounded(c.bound.error[k]), rounded(c.cvg[k]), rounded(c.measured[k].error),
              grouped(c.measured[k].leaks), grouped(c.measured[k].misses)},
             false});
    return table;
}

std::string interval_text(const Interval& interval, double unit) {
    return interval.empty() ? "none"
                            : fmt::format("{} to {}", rounded(interval.low * unit),
                                          rounded(interval.high * unit));
}

Table suggestion_table(const Suggestion& s, double scale) {
    const double unit = scale > 0 ? scale : 1;
    const std::string name = scale > 0 ? "λ" : "factor on the weights";
    Table table;
    table.columns = {{"Choice", false}, {"δ", true}, {name, true}, {"α", true}, {"Cvg(K)", true}};
    const auto add = [&](const std::string& label, const SetPoint& p) {
        table.rows.push_back(
            {{label, rounded(p.delta), rounded(p.scale * unit), rounded(p.alpha), rounded(p.cvg)},
             false});
    };
    add("as it is", s.now);
    if (s.open)
        table.rows.push_back({{"largest δ for these weights", "< " + rounded(s.largest_delta.delta),
                               rounded(unit), "< 1", "–"},
                              false});
    else if (!s.delta_at_scale.empty())
        add("largest δ for these weights", s.largest_delta);
    if (s.margin_delta && s.margin_delta->delta < s.largest_delta.delta)
        add(fmt::format("largest δ with α {}", Suggestion::kMargin), *s.margin_delta);
    if (s.best)
        add("least Cvg", *s.best);
    else
        table.rows.push_back({{"least Cvg below B", "none", "none", "", ""}, false});
    const auto range = [&](const std::string& label, const std::string& delta,
                           const std::string& lambda) {
        table.rows.push_back({{label, delta, lambda, "< 1", ""}, false});
    };
    range("all δ for these weights", interval_text(s.delta_at_scale, 1), rounded(unit));
    range("all " + name + " for this δ", rounded(s.now.delta),
          interval_text(s.scale_at_delta, unit));
    range("all " + name + " for δ = 1", "1", interval_text(s.scale_at_one, unit));
    return table;
}

std::vector<KeyFigure> key_figures_of(const Certificate& c) {
    const char* const set = c.spec.activation == Activation::hard ? "eq. ht1" : "eq. to10";
    return {{"Verdict", std::string(to_string(c.verdict)), "", ""},
            {"α", rounded(alpha(c.basis())), "", fmt::format("{} asks for less than 1", set)},
            {"Bound after the last layer", rounded(c.bound.error.back()), "",
             fmt::format("signals are up to B = {} long", rounded(c.terms.B))},
            {"Largest error measured", rounded(c.measured.back().error), "",
             fmt::format("of {} signals", grouped(c.signals))}};
}

}  // namespace

Figure spectral_figure(const Certificate& c) {
    Figure figure{"Spectral terms", layers_plot("f", Axis::Scale::linear), {}};
    figure.plot.y.min = 0;
    figure.plot.series.push_back(by_layer("f_k", numbers(c.terms.layers, &LayerTerms::f), 0));
    if (c.spec.activation == Activation::soft)
        figure.plot.series.push_back(by_layer("f_k + µ_k s", soft_terms(c), 1));
    if (c.all)
        figure.plot.series.push_back(by_layer("f_k, bound for all supports",
                                              numbers(c.all->terms.layers, &LayerTerms::f), 2));
    figure.plot.lines.push_back({ReferenceLine::Direction::horizontal, 1, "1"});
    figure.caption =
        c.spec.activation == Activation::soft
            ? "The set of eq. to10 needs f_k + µ_k s below 1 in every layer, that of ht1 f_k."
            : "The set of eq. ht1 needs f_k below 1 in every layer.";
    return figure;
}

Figure error_figure(const Certificate& c) {
    Figure figure{"Error and its bounds", layers_plot("largest error", Axis::Scale::log), {}};
    auto& series = figure.plot.series;
    series.push_back(by_layer("measured", numbers(c.measured, &MeasuredLayer::error), 0));
    series.push_back(by_layer("bound", c.bound.error, 1));
    if (std::isfinite(c.cvg.front())) series.push_back(by_layer("Cvg(k)", c.cvg, 2));
    figure.caption =
        c.verdict == Verdict::none
            ? "No guarantee: an assumption of the bounds fails, and the measured "
              "error may pass them."
            : "The bound uses the thresholds of the model; Cvg(k) those of eq. to7, and "
              "supposes noise 0.";
    return figure;
}

std::string certificate_report(const CertificateReport& report) {
    const Certificate& c = report.certificate;
    const std::vector<std::string> facts{
        c.supports == 1
            ? fmt::format("one support of {} entries", c.support_size)
            : fmt::format("{} supports of up to {} entries", grouped(c.supports), c.support_size),
        fmt::format("K = {} layers", c.spec.layers),
        fmt::format("{} activation", to_string(c.spec.activation)),
        fmt::format("{} update", to_string(c.spec.update)),
        fmt::format("δ = {}", rounded(c.spec.delta)),
        c.gram ? "Gram form" : "sensing-matrix form"};
    Page page(
        "pibinn certificate",
        fmt::format("{} {}", c.verdict == Verdict::none ? "No guarantee for a" : "What holds for a",
                    to_string(c.spec.weights)) +
            fmt::format(" network of {} layers", c.spec.layers),
        facts);
    page.paragraph(report.model);
    page.paragraph(report.source);
    page.key_figures(key_figures_of(c));
    page.section("Why", c.why + ".");
    page.section("Layer by layer");
    std::vector<Figure> figures{spectral_figure(c), error_figure(c), threshold_figure(c)};
    if (c.response) figures.push_back(response_figure(c));
    page.figures(figures);
    page.table(layer_table(c));
    if (c.theorem)
        page.section(
            "Theorem 1",
            fmt::format("The bound on the local Rademacher complexity has the form "
                        "of Theorem 1 and the value {}, with N = {}, r = {}, t = "
                        "{}, ln Γ(N) = {}, B_θ = {} and factors {}, {}, {} on C1, C2, C3, "
                        "{}.",
                        rounded(c.theorem->value), rounded(c.theorem->used.N),
                        rounded(c.theorem->used.r), rounded(c.theorem->used.t),
                        rounded(c.theorem->used.log_gamma), rounded(c.theorem->used.b_theta),
                        rounded(c.theorem->used.c1), rounded(c.theorem->used.c2),
                        rounded(c.theorem->used.c3), c.assumptions_text()));
    if (report.suggestion) {
        page.section("Into the set",
                     "Which δ and scale of the same signs give α below 1, and what "
                     "the paper's Cvg then promises after the last layer.");
        page.table(suggestion_table(*report.suggestion, c.scale));
    }
    if (!report.command.empty()) {
        page.section("How it was made");
        page.code(report.command);
    }
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
