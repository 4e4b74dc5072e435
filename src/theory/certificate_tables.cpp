#include "theory/certificate_tables.hpp"

#include <cmath>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/numbers.hpp"
#include "spectral/alpha.hpp"
#include "theory/verdict.hpp"

namespace pibinn {

namespace {

bool asks_for_coherence(const Certificate& c) {
    return weight_set(c.spec.activation) == WeightSet::soft;
}

/// An error beside the signal it belongs to.
std::string share(double ratio) {
    if (!(ratio > 0 && std::isfinite(ratio))) return decibels(ratio);
    return fmt::format("{} ({:.3g} %)", decibels(ratio), 100 * ratio);
}

Answer guaranteed(const Certificate& c) {
    const std::string question = "Guaranteed";
    switch (c.verdict) {
        case Verdict::guaranteed:
            return {
                question,
                "yes: every signal of the class told below is recovered within the error proven",
                "yes"};
        case Verdict::on_supports:
            return {
                question,
                fmt::format("in part: for the {} supports that were drawn, not for all supports "
                            "of {} entries",
                            grouped(c.supports), c.all->size),
                "in part"};
        case Verdict::on_data:
            return {question,
                    "no: nothing went wrong on the signals measured, and nothing is proven for "
                    "others",
                    "no"};
        case Verdict::none:
            break;
    }
    return {question, "no: errors were measured, and no limit to them is proven", "no"};
}

Answer which_signals(const Certificate& c) {
    return {c.proves_errors() ? "For which signals" : "Asked for", class_text(c), ""};
}

Answer largest_proven(const Certificate& c) {
    const std::string question = "Largest error proven";
    if (!c.proves_errors()) return {question, "none", "none"};
    const double bound = c.bound.error.back(), B = c.terms.B;
    std::string text = fmt::format("{:.4g}, which is {} of the longest signal, {:.4g}", bound,
                                   share(bound / B), B);
    if (!(bound < B)) text += "; the answer 0 promises as much";
    return {question, text, certificate_number(bound)};
}

std::string measured_on(const Certificate& c) {
    const CertificateSource& s = c.source;
    const std::string count =
        c.signals == 1 ? "1 signal" : fmt::format("{} signals", grouped(c.signals));
    if (s.samples > 0) return count + " drawn";
    return count + (s.signals.empty() ? "" : " of " + s.signals);
}

Answer largest_measured(const Certificate& c) {
    const MeasuredLayer& last = c.measured.back();
    if (last.error == 0)
        return {"Largest error measured", fmt::format("none: {} came back exactly", measured_on(c)),
                "exact"};
    return {"Largest error measured",
            fmt::format("{:.4g}; relative to its own signal at most {}, of {}", last.error,
                        share(last.relative_error), measured_on(c)),
            certificate_number(last.error)};
}

Answer typical_measured(const Certificate& c) {
    const MeasuredLayer& last = c.measured.back();
    if (last.median_error == 0) return {"Typical error measured", "none", "exact"};
    return {"Typical error measured",
            fmt::format("{:.4g}; relative to its own signal {}; both are medians",
                        last.median_error, share(last.median_relative_error)),
            certificate_number(last.median_error)};
}

Answer largest_found(const Certificate& c) {
    const Attack& a = *c.attack;
    return {"Largest error found",
            fmt::format("{:.4g}, by a search for bad signals from {} starts ({} signals); {}",
                        a.error.back(), grouped(a.starts), grouped(a.signals),
                        a.leaked ? "it switched on entries that are zero in the signal"
                                 : "it switched on no entry that is zero in the signal"),
            certificate_number(a.error.back())};
}

std::string source_text(const Certificate& c) {
    const CertificateSource& s = c.source;
    const std::string length = fmt::format("at most B = {} long", rounded_down(c.terms.B));
    if (s.size)
        return fmt::format("{} random supports of {} entries with a signal each, {}",
                           grouped(s.samples), *s.size, length);
    if (!s.supports.empty())
        return fmt::format("{} supports; {} signals drawn on them, {}", s.supports.size(),
                           grouped(s.samples), length);
    if (s.samples > 0)
        return fmt::format("one support; {} signals drawn on it, {}", grouped(s.samples), length);
    return fmt::format("supports of the {}signals{}; B = {:.4g} {}",
                       s.coefficients ? "coefficients of the " : "",
                       s.signals.empty() ? "" : " of " + s.signals, c.terms.B,
                       s.given_B ? "as given" : "is the length of the longest");
}

std::string interval(const Interval& range, double unit) {
    return range.empty() ? "none"
                         : fmt::format("{:.4g} to {:.4g}", range.low * unit, range.high * unit);
}

}  // namespace

std::string certificate_number(double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
}

std::vector<Answer> answers(const Certificate& c) {
    std::vector<Answer> out{guaranteed(c), which_signals(c), largest_proven(c), largest_measured(c),
                            typical_measured(c)};
    if (c.attack) out.insert(out.begin() + 3, largest_found(c));
    if (!c.failed.empty())
        out.push_back({c.proves_errors() ? "What is missing" : "What failed",
                       fmt::format("{}", fmt::join(c.failed, "; ")), ""});
    if (c.spec.polish > 0)
        out.push_back({"Not covered",
                       fmt::format("the {} steps of polish after the last layer: everything here "
                                   "speaks of what the layers give",
                                   c.spec.polish),
                       ""});
    out.push_back({"Signals", source_text(c), ""});
    out.push_back({"Network", c.network, ""});
    return out;
}

Table layer_table(const Certificate& c) {
    const bool soft = asks_for_coherence(c);
    std::vector<std::string> header{"layer",  "measured",  "bound", "leaks",
                                    "misses", "threshold", "needed"};
    if (c.attack) header.insert(header.begin() + 2, "found");
    if (c.spec.update.is_plain()) header.emplace_back("eq. to7");
    header.emplace_back("f");
    header.emplace_back(soft ? "f + mu s" : "mu");
    if (c.all) header.emplace_back("f, all supports");
    if (c.spec.update.is_plain()) header.emplace_back("Cvg");
    Table table = Table::of(header);
    table.columns.front().number = true;
    for (std::size_t k = 0; k < c.measured.size(); ++k) {
        const LayerTerms& layer = c.terms.layers[k];
        std::vector<std::string> row{std::to_string(k + 1),
                                     certificate_number(c.measured[k].error),
                                     certificate_number(c.bound.error[k]),
                                     grouped(c.measured[k].leaks),
                                     grouped(c.measured[k].misses),
                                     certificate_number(layer.theta),
                                     certificate_number(c.bound.theta_needed[k])};
        if (c.attack) row.insert(row.begin() + 2, certificate_number(c.attack->error[k]));
        if (c.spec.update.is_plain()) row.push_back(certificate_number(c.asked.theta[k]));
        row.push_back(certificate_number(layer.f));
        row.push_back(certificate_number(
            soft ? alpha(WeightSet::soft, layer.f, layer.mu, c.support_size) : layer.mu));
        if (c.all) row.push_back(certificate_number(c.all->terms.layers[k].f));
        if (c.spec.update.is_plain()) row.push_back(certificate_number(c.cvg[k]));
        table.add(row);
    }
    return table;
}

Table notation_table(const Certificate& c) {
    Table table;
    table.columns = {{"column", false}, {"what it is", false}};
    const bool plain = c.spec.update.is_plain(), soft = asks_for_coherence(c);
    table.add({"measured", "the largest error of the signals after the layer"});
    if (c.attack) table.add({"found", "the largest error that a search for bad signals found"});
    table.add({"bound", c.proves_errors() ? "no error can be larger"
                                          : "no error is larger if no entry leaks"});
    table.add({"leaks", "signals with an entry switched on that is zero in the signal"});
    table.add({"misses", "signals with an entry at zero that is not zero in the signal"});
    table.add({"needed", "from this threshold on no entry can leak"});
    if (plain) table.add({"eq. to7", "the threshold that the paper asks for"});
    table.add({"f", "share of the error before the layer that survives it at most"});
    if (soft)
        table.add({"f + mu s", "the same with the price of thresholds (eq. to10): below 1"});
    else
        table.add({"mu", "how much one entry can disturb another one"});
    if (c.all) table.add({"f, all supports", "a limit of f for every support of that size"});
    if (plain)
        table.add({"Cvg", soft ? "the paper's bound, for noise 0 and the thresholds of eq. to7"
                               : "the paper's bound, for noise 0, thresholds of eq. to7, no leaks "
                                 "and misses"});
    return table;
}

Table response_table(const Certificate& c) {
    const ResponseBounds& r = *c.response;
    const std::size_t last = r.stab_q.size() - 1;
    Table table = Table::of({"how far the answer can move", "at most"});
    const auto add = [&](const char* what, double value) {
        table.add({what, certificate_number(value)});
    };
    add("per unit of change of the operator (Stab Q, ||A_S - A'_S||)", r.stab_q[last]);
    add("per unit of change of the measurements (Stab b, ||y - y'||)", r.stab_b[last]);
    add("per unit of change of the first weights (Sens W_1)", r.sens_w(last, 0));
    add("per unit of change of the last weights (Sens W_K)", r.sens_w(last, last));
    add("per unit of change of the first threshold (Sens theta_1)", r.sens_theta(last, 0));
    add("per unit of change of the last threshold (Sens theta_K)", r.sens_theta(last, last));
    add("once more by jumps of the hard threshold", r.jump[last]);
    add("the paper's Term (a), not needed", r.term_a[last]);
    add("the paper's Term (b), not needed", r.term_b[last]);
    add("the paper's Term (I) = (a) + (b), not needed", r.term_a[last] + r.term_b[last]);
    table.add({fmt::format("Theorem 1 (ln Gamma {:.3g}, B_theta {:.3g}, N {})",
                           c.theorem->used.log_gamma, c.theorem->used.b_theta, c.theorem->used.N),
               certificate_number(c.theorem->value)});
    return table;
}

std::string response_condition(const Certificate& c) {
    std::string known, unknown;
    const std::string for_y =
        fmt::format(", for y at most {:.4g} away from A x", c.proven.op_noise);
    for (const auto& [name, unit, change, condition] :
         {std::tuple{"Stab Q", "operators within", c.proven.op, for_y},
          {"Stab b", "measurements within", c.proven.measurement, ""},
          {"Sens W", "weights within", c.proven.weights, ""},
          {"Sens theta", "thresholds within", c.proven.thresholds, ""}})
        if (change > 0)
            known += fmt::format("{}{} ({} {:.4g}{})", known.empty() ? "" : ", ", name, unit,
                                 change, condition);
        else
            unknown += fmt::format("{}{}", unknown.empty() ? "" : ", ", name);
    std::string text = "Valid where both networks keep the support and have f_k up to these";
    if (!known.empty()) text += "; proven for " + known;
    if (!unknown.empty())
        text += fmt::format("; not proven for {}{}", unknown,
                            c.proves_errors() ? ": give noise or a radius" : "");
    return text + fmt::format(". Theorem 1 is {}.", c.assumptions_text());
}

Table set_table(const Certificate& c) {
    Table table;
    table.columns = {{"set of the paper", false}, {"member", false}, {"because", false}};
    const auto word = [](bool member) { return member ? "yes" : "no"; };
    table.add({"hard thresholds (eq. ht1)", word(c.member.hard),
               fmt::format("alpha = {:.4g}, the largest f, must be below 1", alpha_hard(c.terms))});
    table.add({"soft thresholds (eq. to10)", word(c.member.soft),
               fmt::format("alpha = {:.4g}, the largest f + mu s, must be below 1",
                           alpha_soft(c.terms))});
    table.add({"good weights (Definition 1)", word(c.member.good),
               fmt::format("max |W_i^T A_i - 1| = {:.3g} must be 0", c.diagonal_gap)});
    return table;
}

Table suggestion_table(const Suggestion& s) {
    const double unit = s.unit();
    const std::string name = s.scale > 0 ? "lambda" : "factor";
    Table table = Table::of({"choice", "delta", name, "alpha", "Cvg(K)", "Cvg(K) / B"});
    const auto add = [&](const std::string& label, const SetPoint& p) {
        table.add({label, certificate_number(p.delta), certificate_number(p.scale * unit),
                   certificate_number(p.alpha), certificate_number(p.cvg),
                   certificate_number(p.cvg / s.B)});
    };
    add("as it is", s.now);
    if (s.open)
        table.add({"largest delta for these weights",
                   "< " + certificate_number(s.largest_delta.delta), certificate_number(unit),
                   "< 1", "-", "-"});
    else if (!s.delta_at_scale.empty())
        add("largest delta for these weights", s.largest_delta);
    if (s.margin_delta && s.margin_delta->delta < s.largest_delta.delta)
        add(fmt::format("largest delta with alpha {}", Suggestion::kMargin), *s.margin_delta);
    if (s.best)
        add("least Cvg", *s.best);
    else
        table.add({"least Cvg below B", "none", "none", "-", "-", "-"});
    const auto range = [&](const std::string& label, const std::string& delta,
                           const std::string& scale) {
        table.add({label, delta, scale, "< 1", "-", "-"});
    };
    range("all delta for these weights", interval(s.delta_at_scale, 1), certificate_number(unit));
    range("all " + name + " for this delta", certificate_number(s.now.delta),
          interval(s.scale_at_delta, unit));
    range("all " + name + " for delta 1", "1", interval(s.scale_at_one, unit));
    return table;
}

std::string suggestion_note(const Suggestion& s) {
    std::string text;
    if (!s.best) text = "Even the least Cvg promises no more than the answer 0 does: ||x|| <= B.";
    if (s.sampled)
        text += std::string(text.empty() ? "" : " ") + "All of this is for the supports drawn.";
    return text;
}

}  // namespace pibinn
