#include "cli/certify_text.hpp"

#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "cli/console.hpp"
#include "core/numbers.hpp"
#include "core/table.hpp"
#include "theory/certificate_json.hpp"

namespace pibinn::cli {

namespace {

std::string number(double value) {
    return std::isfinite(value) ? fmt::format("{:.4g}", value) : "-";
}

std::string layers_text(const Certificate& c) {
    const bool soft = c.spec.activation == Activation::soft;
    std::vector<std::string> header{"layer", "f", soft ? "f + mu s" : "mu"};
    if (c.all) header.push_back("f, all supports");
    for (const char* name : {"theta", "needed", "eq. to7", "bound", "Cvg", "measured", "leaks"})
        header.emplace_back(name);
    Table table = Table::of(header);
    for (std::size_t k = 0; k < c.measured.size(); ++k) {
        const LayerTerms& layer = c.terms.layers[k];
        std::vector<std::string> row{
            std::to_string(k + 1), number(layer.f),
            number(soft ? layer.f + layer.mu * static_cast<double>(c.support_size) : layer.mu)};
        if (c.all) row.push_back(number(c.all->terms.layers[k].f));
        row.push_back(number(layer.theta));
        row.push_back(number(c.bound.theta_needed[k]));
        row.push_back(c.spec.update.is_plain() ? number(c.asked.theta[k]) : "-");
        row.push_back(number(c.bound.error[k]));
        row.push_back(number(c.cvg[k]));
        row.push_back(number(c.measured[k].error));
        row.push_back(grouped(c.measured[k].leaks));
        table.add(row);
    }
    std::string text = table_text(table);
    if (c.spec.update.is_plain())
        text +=
            soft ? "Cvg is for noise 0 and the thresholds of eq. to7.\n"
                 : "Cvg is for noise 0 and the thresholds of eq. to7, where leaks and misses are "
                   "zero.\n";
    return text;
}

/// Where the numbers of the table of responses hold.
std::string proven_text(const Certificate& c) {
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
    return text + ".\n";
}

std::string responses_text(const Certificate& c) {
    if (!c.response) return "Stability, sensitivity and Theorem 1 are for the plain update only.\n";
    const ResponseBounds& r = *c.response;
    const std::size_t last = r.stab_q.size() - 1;
    Table table = Table::of({"after the last layer", "value"});
    table.add({"Stab Q: move of x_K by a unit of ||A_S - A'_S||", number(r.stab_q[last])});
    table.add({"Stab b: by a unit of ||y - y'||", number(r.stab_b[last])});
    table.add({"Sens W_1: by a unit of ||W_1 - W'_1||", number(r.sens_w(last, 0))});
    table.add({"Sens W_K", number(r.sens_w(last, last))});
    table.add({"Sens theta_1: by a unit of |theta_1 - theta'_1|", number(r.sens_theta(last, 0))});
    table.add({"Sens theta_K", number(r.sens_theta(last, last))});
    table.add({"jump of the hard threshold", number(r.jump[last])});
    table.add({"the paper's Term (a), not needed", number(r.term_a[last])});
    table.add({"the paper's Term (b), not needed", number(r.term_b[last])});
    table.add(
        {"the paper's Term (I) = (a) + (b), not needed", number(r.term_a[last] + r.term_b[last])});
    table.add({fmt::format("Theorem 1 (ln Gamma {:.3g}, B_theta {:.3g}, N {})",
                           c.theorem->used.log_gamma, c.theorem->used.b_theta, c.theorem->used.N),
               number(c.theorem->value)});
    return table_text(table) + proven_text(c) +
           fmt::format("Theorem 1 is {}.\n", c.assumptions_text());
}

std::string membership_text(const Certificate& c) {
    const auto word = [](bool member) { return member ? "yes" : "no"; };
    return fmt::format(
        "over the supports seen: in the HT set (eq. ht1): {} (alpha {:.4g});  in the ST set (eq. "
        "to10): {} (alpha {:.4g}); "
        " "
        "diagonal of good weights (Definition 1): {} (max |W_i^T A_i - 1| = {:.3g})\n",
        word(c.member.hard), alpha_hard(c.terms), word(c.member.soft), alpha_soft(c.terms),
        word(c.member.good), c.diagonal_gap);
}

std::string interval(const Interval& range, double unit) {
    return range.empty() ? "none"
                         : fmt::format("{:.4g} to {:.4g}", range.low * unit, range.high * unit);
}

}  // namespace

std::string certificate_text(const Certificate& c) {
    std::string text = fmt::format(
        "{} distinct supports of up to {} entries, {} signals; B = {:.4g}, noise up to {:.3g}\n"
        "eigenvalues of Q on the supports in [{:.4g}, {:.4g}]\n\n",
        grouped(c.supports), c.support_size, grouped(c.signals), c.terms.B, c.terms.noise, c.r,
        c.L);
    text += layers_text(c) + "\n" + responses_text(c) + "\n" + membership_text(c);
    if (c.all)
        text += fmt::format(
            "alpha over all supports of {} entries is at most {:.4g}; needed, eq. to7, bound and "
            "Cvg "
            "are for {}\n",
            c.all->size, alpha(c.all->terms), c.supports_text());
    return text + fmt::format("{}: {}\n", to_string(c.verdict), c.why);
}

std::string suggestion_text(const Certificate& c, const Suggestion& s) {
    const double unit = c.scale > 0 ? c.scale : 1;
    const std::string name = c.scale > 0 ? "lambda" : "factor";
    Table table = Table::of({"choice", "delta", name, "alpha", "Cvg(K)", "Cvg(K) / B"});
    const auto add = [&](const std::string& label, const SetPoint& p) {
        table.add({label, number(p.delta), number(p.scale * unit), number(p.alpha), number(p.cvg),
                   number(p.cvg / c.terms.B)});
    };
    add("as it is", s.now);
    if (s.open)
        table.add({"largest delta for these weights", "< " + number(s.largest_delta.delta),
                   number(unit), "< 1", "-", "-"});
    else if (!s.delta_at_scale.empty())
        add("largest delta for these weights", s.largest_delta);
    if (s.margin_delta && s.margin_delta->delta < s.largest_delta.delta)
        add(fmt::format("largest delta with alpha {}", Suggestion::kMargin), *s.margin_delta);
    if (s.best)
        add("least Cvg", *s.best);
    else
        table.add({"least Cvg below B", "none", "none", "-", "-", "-"});
    std::string text = fmt::format("\n{}", table_text(table));
    text += fmt::format("alpha < 1 for delta: {} (these weights)\n", interval(s.delta_at_scale, 1));
    text +=
        fmt::format("alpha < 1 for {}: {} (delta {:.4g}), {} (delta 1)\n", name,
                    interval(s.scale_at_delta, unit), s.now.delta, interval(s.scale_at_one, unit));
    if (!s.best)
        text += "Even the least Cvg promises no more than the answer 0 does: ||x|| <= B.\n";
    if (c.all) text += "All of this is for the supports drawn.\n";
    return text;
}

AttachedCertificate AttachedCertificate::of(const Model& model) {
    AttachedCertificate attached;
    const auto found = model.metadata.find(kCertificateKey);
    if (found == model.metadata.end()) return attached;
    attached.present = true;
    const auto json = nlohmann::json::parse(found->second, nullptr, false);
    const auto word = [&](const char* key) {
        return json.is_object() && json.contains(key) && json[key].is_string()
                   ? json[key].get<std::string>()
                   : std::string();
    };
    attached.matches = word("weights_hash") == weights_hash(model);
    attached.verdict = word("verdict");
    attached.why = word("why");
    return attached;
}

std::string AttachedCertificate::text() const {
    if (!present) return "";
    if (!matches)
        return "warning: the attached certificate was made of other weights; run 'pibinn certify' "
               "again\n";
    return fmt::format("certificate: {}: {}\n", one_line(verdict), one_line(why));
}

}  // namespace pibinn::cli
