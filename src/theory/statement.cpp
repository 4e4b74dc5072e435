#include <cmath>

#include <fmt/format.h>

#include "core/numbers.hpp"
#include "pibinn/certificate.hpp"
#include "pibinn/signal_class.hpp"

namespace pibinn {

namespace {

/// What the float64 of the proof itself may have lost: far below every bound but that of networks
/// that are exact.
double proof_slack(const BoundInputs& in) {
    const auto terms = static_cast<double>(in.most_rows + in.s);
    double slack = 0;
    for (const LayerTerms& layer : in.layers)
        slack = layer.f * slack +
                terms * 0x1p-50 *
                    ((1 + layer.column * in.operator_norm) * in.B + layer.column * in.noise);
    return slack;
}

/// Which signals, as one says it.
std::string kind_of_signals(const Certificate& c) {
    const CertificateSource& s = c.source;
    if (s.size && c.over_all) return in_words({.size = *s.size});
    if (s.size)
        return fmt::format("nonzeros on one of the {} supports of {} entries that were drawn",
                           grouped(c.supports), *s.size);
    if (!s.supports.empty()) return in_words({.supports = s.supports});
    if (s.samples > 0) return in_words({.supports = {s.support}});
    return c.supports == 1 ? std::string("nonzeros on the one support of the signals given")
                           : fmt::format("nonzeros on one of the {} supports of the signals given",
                                         grouped(c.supports));
}

std::string measured_text(const Certificate& c) {
    const double most = std::max(c.measured.back().error, c.attack ? c.attack->error.back() : 0.0);
    return fmt::format("on {} signals the error after layer {} was up to {:.3g}",
                       grouped(c.signals), c.spec.layers, most);
}

}  // namespace

std::string Certificate::statement() const {
    if (verdict == Verdict::none)
        return fmt::format("Nothing is guaranteed: {}, and it may be larger on others.",
                           measured_text(*this));
    if (verdict == Verdict::on_data)
        return fmt::format("Nothing is guaranteed for other signals: {}.", measured_text(*this));
    std::string text = fmt::format("For every {}{} with {} and norm up to {}",
                                   source.coefficients ? "vector of coefficients" : "signal",
                                   blocks ? ", block by block," : "", kind_of_signals(*this),
                                   rounded_down(terms.B));
    if (terms.noise > 0)
        text += fmt::format(", measured with noise of norm up to {}", rounded_down(terms.noise));
    for (const auto& [name, radius] : {std::pair{"operator", operator_radius},
                                       {"weights", weight_radius},
                                       {"thresholds", threshold_radius}})
        if (radius > 0) text += fmt::format(", {} off by up to {}", name, rounded_down(radius));
    text += fmt::format(", the error after layer {} is below {}{}.", spec.layers,
                        rounded_up(bound.error.back() + proof_slack(basis())),
                        terms.rounding > 0 ? "" : " in exact arithmetic");
    if (verdict == Verdict::on_supports)
        text += fmt::format(" Nothing is guaranteed on other supports of {} entries.", all->size);
    return text;
}

}  // namespace pibinn
