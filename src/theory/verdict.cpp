#include "theory/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/names.hpp"
#include "core/numbers.hpp"
#include "spectral/alpha.hpp"

namespace pibinn {

namespace {

constexpr NameTable<Verdict, 4> kVerdicts{{{Verdict::guaranteed, "guaranteed"},
                                           {Verdict::on_supports, "holds for the supports drawn"},
                                           {Verdict::on_data, "holds on the data"},
                                           {Verdict::none, "no guarantee"}}};

/// The first layer where it happened, and to how many signals.
std::string first_leak(const std::vector<MeasuredLayer>& measured, std::size_t signals) {
    for (std::size_t k = 0; k < measured.size(); ++k)
        if (measured[k].leaks > 0)
            return fmt::format("layer {} activates entries outside the support of {} of {} signals",
                               k + 1, measured[k].leaks, signals);
    return {};
}

/// The first layer that makes alpha reach 1; 0 for none.
std::size_t first_over_one(const BoundInputs& in) {
    const WeightSet set = weight_set(in.activation);
    for (std::size_t k = 0; k < in.layers.size(); ++k)
        if (!(alpha(set, in.layers[k].f, in.layers[k].mu, in.s) < 1)) return k + 1;
    return 0;
}

/// A bound that is no less than B promises no more than the answer 0 does.
std::string empty_bound(const BoundInputs& in, const ErrorBound& bound) {
    return fmt::format("the bound of the last layer ({:.4g}) is not below B = {:.4g}",
                       bound.error.back(), in.B);
}

/// Why a proof fails. Where alpha reaches 1 that is the deeper reason: errors grow, and with them
/// the thresholds that a proof needs.
std::string gap(const BoundInputs& in, const ErrorBound& bound) {
    if (const std::size_t layer = first_over_one(in); layer > 0)
        return fmt::format("alpha = {:.4g} is not below 1 (first in layer {})", alpha(in), layer);
    if (bound.keeps_support()) return empty_bound(in, bound);
    const std::size_t layer = bound.first_leak;
    return fmt::format("the threshold of layer {} ({:.4g}) is below what a proof needs ({:.4g})",
                       layer, in.layers[layer - 1].theta, bound.theta_needed[layer - 1]);
}

/// The same for an engineer: what may happen, and what would rule it out.
std::string gap_in_words(const BoundInputs& in, const ErrorBound& bound) {
    if (const std::size_t layer = first_over_one(in); layer > 0) {
        const LayerTerms& terms = in.layers[layer - 1];
        const double passed = 100 * alpha(weight_set(in.activation), terms.f, terms.mu, in.s);
        return fmt::format(
            "layer {} may pass on {:.0f} % of the error before it; errors provably shrink only "
            "below 100 %",
            layer, std::ceil(passed));
    }
    if (bound.keeps_support())
        return fmt::format(
            "the error proven for the last layer, {:.4g}, is no less than the longest signal, "
            "{:.4g}: the answer 0 promises as much",
            bound.error.back(), in.B);
    const std::size_t layer = bound.first_leak;
    return fmt::format(
        "the threshold of layer {} is {:.4g}; to prove that entries that are zero in the signal "
        "stay zero it must be {:.4g}",
        layer, in.layers[layer - 1].theta, bound.theta_needed[layer - 1]);
}

std::string leak_in_words(const Certificate& c) {
    for (std::size_t k = 0; k < c.measured.size(); ++k)
        if (c.measured[k].leaks > 0)
            return fmt::format(
                "layer {} switched on entries that are zero in the signal, in {} of {} signals",
                k + 1, grouped(c.measured[k].leaks), grouped(c.signals));
    return {};
}

}  // namespace

std::string class_text(const Certificate& c) {
    std::string text = fmt::format("every signal up to B = {} long on {}, ",
                                   rounded_down(c.terms.B), c.supports_text());
    text += c.terms.noise > 0 ? fmt::format("noise up to {}", rounded_down(c.terms.noise))
                              : "without noise";
    if (c.terms.rounding > 0) text += ", rounding of float32 included";
    for (const auto& [name, radius] : {std::pair{"operators", c.operator_radius},
                                       {"weights", c.weight_radius},
                                       {"thresholds", c.threshold_radius}})
        if (radius > 0) text += fmt::format(", {} within {}", name, rounded_down(radius));
    return text;
}

namespace {

/// More is asked for than the one network and the noise that were run.
bool asks_for_more_than_was_run(const Certificate& c) {
    return c.operator_radius > 0 || c.weight_radius > 0 || c.threshold_radius > 0 ||
           c.terms.noise > c.measured_noise;
}

/// Of a network that is proven to keep the support.
ProvenChanges proven_changes(const Certificate& c) {
    ProvenChanges proven;
    // ||y - A' x|| <= ||y - A x|| + ||A_S - A'_S|| B must stay within the noise of the proof.
    const double spare = std::max(0.0, c.terms.noise - c.measured_noise);
    proven.op = std::min(c.operator_radius, spare / c.terms.B);
    proven.op_noise = c.terms.noise - proven.op * c.terms.B;
    proven.measurement = c.terms.noise;
    proven.weights = c.weight_radius;
    proven.thresholds = c.threshold_radius;
    return proven;
}

void judge_without_proof(Certificate& c) {
    const std::string leak = first_leak(c.measured, c.signals);
    c.verdict = Verdict::none;
    c.failed.push_back(gap_in_words(c.terms, c.bound));
    if (!leak.empty()) c.failed.push_back(leak_in_words(c));
    const std::string missing = gap(c.terms, c.bound);
    if (!leak.empty()) {
        c.why = fmt::format("the support is not kept: {}, and {} over {}", leak, missing,
                            c.supports_text());
        return;
    }
    c.why = fmt::format(
        "no layer activated an entry outside the support of any of {} signals; for other signals "
        "{}",
        c.signals, missing);
    if (!(c.bound.error.back() < c.terms.B)) {
        c.why = missing + " over " + c.supports_text();
        return;
    }
    if (asks_for_more_than_was_run(c)) {
        c.failed.emplace_back(
            "the signals were run with the network and the noise as they are, which says nothing "
            "of the noise and the radii asked for");
        c.why += fmt::format(
            "; seen for the nominal network and the measured noise (up to {:.4g}) only, which says "
            "nothing of the noise and the radii asked for",
            c.measured_noise);
    } else {
        c.verdict = Verdict::on_data;
    }
}

}  // namespace

std::string_view to_string(Verdict verdict) { return name_of(kVerdicts, verdict); }

std::string Certificate::supports_text() const {
    if (over_all) return fmt::format("all supports of {} entries", all->size);
    if (all) return fmt::format("the {} supports drawn of {} entries", supports, all->size);
    if (!source.supports.empty()) return fmt::format("{} supports", source.supports.size());
    if (supports == 1) return fmt::format("one support of {} entries", support_size);
    return fmt::format("the {} supports of the signals", supports);
}

std::string Certificate::assumptions_text() const {
    const std::string text = "under the assumptions above";
    if (proves_errors()) return text;
    return text + (verdict == Verdict::on_data
                       ? ", which were seen to hold on the signals and are not proven"
                       : ", which fail here");
}

bool proves(const BoundInputs& terms, const ErrorBound& bound) {
    return bound.keeps_support() && bound.error.back() < terms.B;
}

void judge(Certificate& c) {
    if (proves(c.basis(), c.bound)) {
        const bool drawn = c.all && !c.over_all;
        c.verdict = drawn ? Verdict::on_supports : Verdict::guaranteed;
        c.why = fmt::format(
            "every threshold is at least what keeps all entries outside the support at zero, so "
            "that the bounds hold: for {}",
            class_text(c));
        if (drawn) {
            c.failed.push_back(fmt::format("not for all supports of {} entries: {}", c.all->size,
                                           gap_in_words(c.all->terms, c.all->bound)));
            c.why += fmt::format("; not proven for all supports of that size: {}",
                                 gap(c.all->terms, c.all->bound));
        }
        c.proven = proven_changes(c);
    } else {
        judge_without_proof(c);
    }
    if (!c.spec.update.is_plain())
        c.why += "; the accelerated update lies outside the paper's theory, the bounds are ours";
    if (c.spec.polish > 0) c.why += "; the polish after the last layer is not covered";
}

}  // namespace pibinn
