#include "report/certificate_report.hpp"

#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "spectral/alpha.hpp"
#include "theory/certificate_tables.hpp"

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
        return alpha(WeightSet::soft, layer.f, layer.mu, c.support_size);
    });
}

Figure threshold_figure(const Certificate& c) {
    Figure figure{"Thresholds", layers_plot("θ", Axis::Scale::log), {}};
    auto& series = figure.plot.series;
    series.push_back(by_layer("learned", numbers(c.terms.layers, &LayerTerms::theta), 0));
    series.push_back(by_layer("needed for a proof", c.bound.theta_needed, 1));
    if (c.spec.update.is_plain()) series.push_back(by_layer("asked by eq. to7", c.asked.theta, 2));
    figure.caption =
        "A support is provably kept where the learned threshold is at least the one needed.";
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

/// The answer without the figure that it may begin with.
std::string note_of(const Answer& a) {
    if (!a.answer.starts_with(a.figure)) return a.answer;
    const std::size_t rest = a.answer.find_first_not_of(":;, ", a.figure.size());
    return rest == std::string::npos ? "" : a.answer.substr(rest);
}

std::vector<KeyFigure> key_figures_of(const Certificate& c) {
    std::vector<KeyFigure> figures;
    for (const Answer& a : answers(c))
        if (!a.figure.empty()) figures.push_back({a.question, a.figure, "", note_of(a)});
    return figures;
}

std::string title_of(const Certificate& c) {
    const char* said = "No guarantee for";
    switch (c.verdict) {
        case Verdict::guaranteed:
            said = "What is guaranteed of";
            break;
        case Verdict::on_supports:
            said = "What is guaranteed in part of";
            break;
        case Verdict::on_data:
        case Verdict::none:
            break;
    }
    return fmt::format("{} a {} network of {} layers", said, to_string(c.spec.weights),
                       c.spec.layers);
}

std::string theorem_note(const Certificate& c) {
    const TheoremInputs& used = c.theorem->used;
    return fmt::format(
        "Theorem 1 of the paper bounds the local Rademacher complexity, a scale to compare models "
        "by. Its value is {}, with N = {}, r = {}, t = {}, ln Γ(N) = {}, B_θ = {} and factors {}, "
        "{}, {} on C1, C2, C3.",
        rounded(c.theorem->value), rounded(used.N), rounded(used.r), rounded(used.t),
        rounded(used.log_gamma), rounded(used.b_theta), rounded(used.c1), rounded(used.c2),
        rounded(used.c3));
}

}  // namespace

Figure spectral_figure(const Certificate& c) {
    Figure figure{
        "Share of the error that a layer passes on", layers_plot("f", Axis::Scale::linear), {}};
    figure.plot.y.min = 0;
    figure.plot.series.push_back(by_layer("f_k", numbers(c.terms.layers, &LayerTerms::f), 0));
    if (weight_set(c.spec.activation) == WeightSet::soft)
        figure.plot.series.push_back(by_layer("f_k + µ_k s", soft_terms(c), 1));
    if (c.all)
        figure.plot.series.push_back(by_layer("f_k, bound for all supports",
                                              numbers(c.all->terms.layers, &LayerTerms::f), 2));
    figure.plot.lines.push_back({ReferenceLine::Direction::horizontal, 1, "1"});
    figure.caption =
        weight_set(c.spec.activation) == WeightSet::soft
            ? "Errors provably shrink where f_k + µ_k s is below 1 in every layer (eq. to10 of the "
              "paper; f_k alone is eq. ht1)."
            : "Errors provably shrink where f_k is below 1 in every layer (eq. ht1 of the paper).";
    return figure;
}

Figure error_figure(const Certificate& c) {
    Figure figure{"Error and its bounds", layers_plot("largest error", Axis::Scale::log), {}};
    auto& series = figure.plot.series;
    series.push_back(by_layer("measured", numbers(c.measured, &MeasuredLayer::error), 0));
    series.push_back(by_layer("bound", c.bound.error, 1));
    const bool has_cvg = std::isfinite(c.cvg.front());
    if (has_cvg) series.push_back(by_layer("Cvg(k)", c.cvg, 2));
    if (c.attack) series.push_back(by_layer("found by the search", c.attack->error, 3));
    if (c.verdict == Verdict::none)
        figure.caption =
            "No guarantee: an assumption of the bounds fails, and the measured error may pass "
            "them.";
    else
        figure.caption =
            fmt::format("The bound uses the thresholds of the model{}.",
                        has_cvg ? "; Cvg(k) those of eq. to7, and supposes noise 0" : "");
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
    Page page("pibinn certificate", title_of(c), facts, c.statement());
    page.section("In plain words");
    for (const Answer& a : answers(c))
        if (a.figure.empty()) page.paragraph(a.question + ": " + a.answer + ".");
    page.key_figures(key_figures_of(c));
    page.section("Layer by layer");
    std::vector<Figure> figures{error_figure(c), threshold_figure(c), spectral_figure(c)};
    if (c.response) figures.push_back(response_figure(c));
    page.figures(figures);
    page.table(layer_table(c));
    page.table(notation_table(c));
    page.section("Stability and sensitivity",
                 c.response
                     ? response_condition(c)
                     : "Stability, sensitivity and Theorem 1 are for the plain update only.");
    if (c.response) {
        page.table(response_table(c));
        page.paragraph(theorem_note(c));
    }
    page.section("In the terms of the paper", fmt::format("{}: {}.", to_string(c.verdict), c.why));
    page.table(set_table(c));
    if (report.suggestion) {
        page.section("Into the set",
                     "Which delta and scale of the same signs give alpha below 1, and what the "
                     "paper's Cvg then promises after the last layer. " +
                         suggestion_note(*report.suggestion));
        page.table(suggestion_table(*report.suggestion));
    }
    if (!report.command.empty()) {
        page.section("How it was made");
        page.code(report.command);
    }
    return page.html("pibinn " + report.version);
}

}  // namespace pibinn
