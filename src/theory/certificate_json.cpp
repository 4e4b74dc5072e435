#include "theory/certificate_json.hpp"

#include <functional>

#include <nlohmann/json.hpp>

#include "data/json_fields.hpp"

namespace pibinn {

namespace {

using nlohmann::ordered_json;

template <class Items, class Get>
ordered_json list(const Items& items, const Get& get) {
    ordered_json out = ordered_json::array();
    for (const auto& item : items) out.push_back(std::invoke(get, item));
    return out;
}

/// A row of a triangular matrix: what the last layer answers to each of those before.
ordered_json last_row(const Matrix<double>& values) {
    const auto row = values.row(values.rows() - 1);
    return std::vector<double>(row.begin(), row.end());
}

ordered_json theorem_json(const TheoremBound& t, bool proven) {
    return {{"bound", t.value},
            {"assumptions_proven", proven},
            {"N", t.used.N},
            {"r", t.used.r},
            {"t", t.used.t},
            {"log_gamma", t.used.log_gamma},
            {"b_theta", t.used.b_theta},
            {"c1", t.used.c1},
            {"c2", t.used.c2},
            {"c3", t.used.c3},
            {"C1", t.C1},
            {"C2", t.C2},
            {"C3", t.C3},
            {"sens", t.sensitivity},
            {"stab_hat", t.stability_hat}};
}

/// Where the numbers of ResponseBounds hold.
ordered_json proven_json(const Certificate& c) {
    const auto up_to = [](double change) { return change > 0 ? ordered_json(change) : nullptr; };
    return {{"condition", "valid where both networks keep the support and have f_k up to these"},
            {"stab_q", up_to(c.proven.op)},
            {"stab_q_y_within", c.proven.op > 0 ? ordered_json(c.proven.op_noise) : nullptr},
            {"stab_b", up_to(c.proven.measurement)},
            {"sens_w", up_to(c.proven.weights)},
            {"sens_theta", up_to(c.proven.thresholds)}};
}

ordered_json point_json(const SetPoint& point, double scale) {
    return {{"delta", point.delta},
            {"scale", point.scale * scale},
            {"alpha", point.alpha},
            {"cvg", point.cvg}};
}

ordered_json interval_json(const Interval& interval, double scale) {
    if (interval.empty()) return nullptr;
    return {interval.low * scale, interval.high * scale};
}

ordered_json source_json(const CertificateSource& s) {
    ordered_json out = ordered_json::object();
    if (s.samples == 0) {
        out["signals"] = s.signals;
        if (!s.measurements.empty()) out["measurements"] = s.measurements;
        return out;
    }
    if (s.of_model) out["class"] = "of the guarantee that the model was trained for";
    if (s.size)
        out["size"] = *s.size;
    else if (!s.supports.empty())
        out["supports"] = s.supports;
    else
        out["support"] = s.support;
    out["samples"] = s.samples;
    out["seed"] = s.seed;
    return out;
}

// Names of files need not be UTF-8; JSON must be.
std::string dump(const ordered_json& json) {
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

ordered_json to_json(const Certificate& c) {
    ordered_json out = {
        {"statement", c.statement()},
        {"activation", to_string(c.spec.activation)},
        {"update", to_string(c.spec.update)},
        {"form", c.gram ? "gram" : "sensing"},
        {"delta", c.spec.delta},
        {"scale", c.scale},
        {"support_size", c.support_size},
        {"supports", c.supports},
        {"signals", c.signals},
        {"guarantee", c.verdict == Verdict::guaranteed},
        {"verdict", to_string(c.verdict)},
        {"why", c.why},
        {"failed", c.failed},
        {"bounds_for", c.supports_text()},
        {"sampled", c.all && !c.over_all},
        {"operator_radius", c.operator_radius},
        {"weight_radius", c.weight_radius},
        {"threshold_radius", c.threshold_radius},
        {"f", list(c.terms.layers, &LayerTerms::f)},
        {"mu", list(c.terms.layers, &LayerTerms::mu)},
        {"leak", list(c.terms.layers, &LayerTerms::leak)},
        {"weight_norm", list(c.terms.layers, &LayerTerms::weight)},
        {"alpha", c.alpha},
        {"alpha_hard", alpha_hard(c.terms)},
        {"alpha_soft", alpha_soft(c.terms)},
        {"member", {{"hard", c.member.hard}, {"soft", c.member.soft}, {"good", c.member.good}}},
        {"diagonal_gap", c.diagonal_gap},
        {"good_rate", c.good_rate},
        {"B", c.terms.B},
        {"noise", c.terms.noise},
        {"rounding", c.terms.rounding > 0 ? "float32" : "none"},
        {"measured_noise", c.measured_noise},
        {"operator_norm", c.terms.operator_norm},
        {"r", c.r},
        {"L", c.L},
        {"bound", c.bound.error},
        {"cvg", c.cvg},
        {"followed", c.followed},
        {"theta", list(c.terms.layers, &LayerTerms::theta)},
        {"theta_needed", c.bound.theta_needed},
        {"theta_asked", c.asked.theta},
        {"bound_asked", c.asked.error},
        {"measured_error", list(c.measured, &MeasuredLayer::error)},
        {"measured_rms_error", list(c.measured, &MeasuredLayer::rms_error)},
        {"measured_relative_error", list(c.measured, &MeasuredLayer::relative_error)},
        {"measured_median_error", list(c.measured, &MeasuredLayer::median_error)},
        {"measured_median_relative_error", list(c.measured, &MeasuredLayer::median_relative_error)},
        {"leaks", list(c.measured, &MeasuredLayer::leaks)},
        {"misses", list(c.measured, &MeasuredLayer::misses)},
        {"worst_support", c.worst}};
    if (c.attack)
        out["attack"] = {{"starts", c.attack->starts},
                         {"signals", c.attack->signals},
                         {"error", c.attack->error},
                         {"leaked", c.attack->leaked}};
    if (c.all) {
        out["f_all"] = list(c.all->terms.layers, &LayerTerms::f);
        out["leak_all"] = list(c.all->terms.layers, &LayerTerms::leak);
        out["alpha_all"] = alpha(c.all->terms);
        out["operator_norm_all"] = c.all->terms.operator_norm;
        out["bound_all"] = c.all->bound.error;
        out["theta_needed_all"] = c.all->bound.theta_needed;
    }
    if (c.response) {
        out["zeta"] = c.response->zeta;
        out["stab_q"] = c.response->stab_q;
        out["stab_b"] = c.response->stab_b;
        out["sens_w"] = last_row(c.response->sens_w);
        out["sens_theta"] = last_row(c.response->sens_theta);
        out["jump"] = c.response->jump;
        out["term_a"] = c.response->term_a;
        out["term_b"] = c.response->term_b;
        std::vector<double> term_i;
        for (std::size_t k = 0; k < c.response->term_a.size(); ++k)
            term_i.push_back(c.response->term_a[k] + c.response->term_b[k]);
        out["term_i"] = term_i;
        out["response_proven_up_to"] = proven_json(c);
    }
    if (c.theorem) out["theorem_1"] = theorem_json(*c.theorem, c.proves_errors());
    out["weights_hash"] = c.weights_hash;
    out["source"] = source_json(c.source);
    return out;
}

ordered_json to_json(const Suggestion& s) {
    const double scale = s.unit();
    return {{"now", point_json(s.now, scale)},
            {"delta_at_scale", interval_json(s.delta_at_scale, 1)},
            {"scale_at_delta", interval_json(s.scale_at_delta, scale)},
            {"scale_at_delta_1", interval_json(s.scale_at_one, scale)},
            {"largest_delta",
             s.delta_at_scale.empty() ? ordered_json() : point_json(s.largest_delta, scale)},
            {"largest_delta_open", s.open},
            {"margin", Suggestion::kMargin},
            {"margin_delta", s.margin_delta ? point_json(*s.margin_delta, scale) : ordered_json()},
            {"best", s.best ? point_json(*s.best, scale) : ordered_json()}};
}

std::string Certificate::json() const { return dump(to_json(*this)); }
std::string Suggestion::json() const { return dump(to_json(*this)); }

void attach_certificate(Model& model, const Certificate& certificate) {
    model.metadata[kCertificateKey] =
        to_json(certificate).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::optional<AttachedCertificate> attached_certificate(const Model& model) {
    const auto found = model.metadata.find(kCertificateKey);
    if (found == model.metadata.end()) return {};
    // What is damaged or not of pibinn belongs to no weights; the model itself may be sound.
    nlohmann::json json = nlohmann::json::object();
    try {
        json = parse_json_object(found->second, kCertificateKey);
    } catch (const Error&) {
    }
    const auto word = [&](const char* key) {
        const auto value = json.find(key);
        return value != json.end() && value->is_string() ? value->get<std::string>()
                                                         : std::string();
    };
    AttachedCertificate attached;
    attached.matches = word("weights_hash") == weights_hash(model);
    attached.statement = word("statement");
    attached.verdict = word("verdict");
    attached.why = word("why");
    return attached;
}

}  // namespace pibinn
