#include "pibinn/certificate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/fingerprint.hpp"
#include "core/names.hpp"
#include "pibinn/error.hpp"
#include "theory/part_data.hpp"
#include "theory/spectral.hpp"

namespace pibinn {

namespace {

// W_i^T A_i = 1 of weights that are stored in float32.
constexpr double kUnit = 1e-5;
// Beyond this many multiplications (some minutes) the companion matrices are left out.
constexpr double kMostCompanionWork = 2e11;

constexpr NameTable<Verdict, 3> kVerdicts{{{Verdict::guaranteed, "guaranteed"},
                                           {Verdict::on_data, "holds on the data"},
                                           {Verdict::none, "no guarantee"}}};

void check_options(const CertificateOptions& options) {
    for (const auto& [name, value] : {std::pair{"B", options.B},
                                      {"noise", options.noise},
                                      {"operator radius", options.operator_radius},
                                      {"weight radius", options.weight_radius},
                                      {"threshold radius", options.threshold_radius}})
        if (!(value >= 0 && std::isfinite(value)))
            fail_usage(fmt::format("{} {} is not a number from 0 on", name, value),
                       "leave it out for its default");
}

/// Definition of the Gram form: A_S = Q[S, S], symmetric positive definite, with its own r and L.
void enter_gram_form(const std::vector<PartNetwork>& networks, const PartData& data,
                     SpectralTerms& terms) {
    if (data.supports.size() != 1)
        fail_usage(
            fmt::format("the Gram form has one support, the signals have {}", data.supports.size()),
            "give --support");
    const Support& support = data.supports.front();
    const PartNetwork& network = networks[support.block];
    const std::size_t s = support.entries.size();
    if (network.m() != s)
        fail_input(fmt::format("the Gram form needs an operator Q[S, :] of {} rows, got {}", s,
                               network.m()),
                   "give the support that the rows of the operator belong to");
    Eigen::MatrixXd q(s, s);
    for (std::size_t j = 0; j < s; ++j)
        q.col(static_cast<Eigen::Index>(j)) = network.A.col(support.entries[j]);
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(q, Eigen::EigenvaluesOnly);
    // Entries are float32: what is symmetric was rounded entry by entry.
    if ((q - q.transpose()).cwiseAbs().maxCoeff() > 1e-6 * q.cwiseAbs().maxCoeff() ||
        eigen.eigenvalues().minCoeff() <= 0)
        fail_input("Q[S, S] is not symmetric and positive definite",
                   "the Gram form is for operators Q[S, :] with Q = A^T A");
    terms.r = eigen.eigenvalues().minCoeff();
    terms.L = eigen.eigenvalues().maxCoeff();
}

BoundInputs bound_inputs(const Model& model, const std::vector<PartNetwork>& networks,
                         const PartData& data, const SpectralTerms& terms,
                         const CertificateOptions& options) {
    BoundInputs in;
    in.activation = model.spec.activation;
    in.update = model.spec.update;
    in.delta = model.spec.delta;
    in.s = data.largest;
    in.least_rows = in.most_rows = networks.front().m();
    for (const PartNetwork& network : networks) {
        in.least_rows = std::min(in.least_rows, network.m());
        in.most_rows = std::max(in.most_rows, network.m());
    }
    in.B = options.B > 0 ? options.B : data.norm;
    // A signal scaled to length B may be longer by rounding.
    if (data.norm > in.B * (1 + 1e-6))
        fail_input(fmt::format("a signal has norm {:.6g}, over B = {:.6g}", data.norm, in.B),
                   "raise B, or leave it out to take the largest norm");
    in.B = std::max(in.B, data.norm);
    in.noise = std::max(options.noise, data.noise);
    in.operator_norm = terms.operator_norm;
    in.operator_radius = options.operator_radius;
    in.weight_radius = options.weight_radius;
    in.threshold_radius = options.threshold_radius;
    in.layers = terms.layers;
    return inflated(in);
}

TheoremInputs with_defaults(TheoremInputs inputs, const Certificate& c, double rho) {
    const double s = static_cast<double>(c.support_size);
    const double m = static_cast<double>(c.terms.most_rows);
    if (inputs.N <= 0) inputs.N = static_cast<double>(c.signals);
    if (inputs.r < 0) inputs.r = std::pow(c.measured.back().rms_error, 2);
    if (inputs.t <= 0) inputs.t = std::max(0.5 * std::log(inputs.N), 1e-3);
    if (inputs.log_gamma < 0) inputs.log_gamma = m * s * std::log1p(2 * rho * std::sqrt(inputs.N));
    if (inputs.b_theta < 0) {
        double weight = 0;
        for (const LayerTerms& layer : c.terms.layers) weight = std::max(weight, layer.weight);
        // A matrix of s columns of signs has norm sqrt(m s) at most, and may have it.
        inputs.b_theta = c.scale > 0 ? c.scale * std::sqrt(m * s) : weight;
    }
    return inputs;
}

/// The first layer where it happened, and to how many signals.
std::string first_leak(const std::vector<MeasuredLayer>& measured, std::size_t signals) {
    for (std::size_t k = 0; k < measured.size(); ++k)
        if (measured[k].leaks > 0)
            return fmt::format("layer {} lights up entries outside the support of {} of {} signals",
                               k + 1, measured[k].leaks, signals);
    return {};
}

void judge(Certificate& c) {
    const auto reached =
        std::find_if(c.terms.layers.begin(), c.terms.layers.end(), [&](const LayerTerms& layer) {
            const double extra = c.spec.activation == Activation::hard
                                     ? 0.0
                                     : layer.mu * static_cast<double>(c.support_size);
            return layer.f + extra >= 1;
        });
    const std::string leak = first_leak(c.measured, c.signals);
    const std::string outside =
        c.spec.update.is_plain() ? ""
                                 : "; the accelerated update lies outside the paper's theory, the "
                                   "bounds are ours";
    if (reached != c.terms.layers.end()) {
        c.verdict = Verdict::none;
        c.why = fmt::format("alpha = {:.4g} is not below 1 (first in layer {})", c.alpha,
                            reached - c.terms.layers.begin() + 1);
        if (!leak.empty()) c.why += "; " + leak;
    } else if (c.bound.first_leak == 0) {
        c.verdict = Verdict::guaranteed;
        c.why = fmt::format(
            "alpha = {:.4g} < 1, and every threshold is at least what keeps all "
            "entries outside the support at zero",
            c.alpha);
    } else if (leak.empty()) {
        c.verdict = Verdict::on_data;
        c.why = fmt::format(
            "alpha = {:.4g} < 1, and no layer lit up an entry outside the support "
            "of any of {} signals; for other signals the threshold of layer {} "
            "({:.4g}) is below what a proof needs ({:.4g})",
            c.alpha, c.signals, c.bound.first_leak, c.terms.layers[c.bound.first_leak - 1].theta,
            c.bound.theta_needed[c.bound.first_leak - 1]);
    } else {
        c.verdict = Verdict::none;
        c.why = fmt::format(
            "alpha = {:.4g} < 1, but the support is not kept: {}, and its threshold "
            "is no proof either (layer {}: {:.4g}, needed {:.4g})",
            c.alpha, leak, c.bound.first_leak, c.terms.layers[c.bound.first_leak - 1].theta,
            c.bound.theta_needed[c.bound.first_leak - 1]);
    }
    c.why += outside;
}

}  // namespace

std::string_view to_string(Verdict verdict) { return name_of(kVerdicts, verdict); }

Certificate certify(const Model& model, const CertificateInput& input,
                    const CertificateOptions& options, ThreadPool& pool) {
    check_options(options);
    const std::vector<PartNetwork> networks = part_networks(model);
    const PartData data = split_signals(model, networks, input);
    SpectralTerms terms = spectral_terms(networks, data.supports, pool);
    if (options.gram) enter_gram_form(networks, data, terms);

    Certificate c;
    c.spec = model.spec;
    c.gram = options.gram;
    c.scale = model.scale();
    c.weights_hash = weights_hash(model);
    c.signals = data.signals;
    c.supports = data.supports.size();
    c.support_size = data.largest;
    c.r = terms.r;
    c.L = terms.L;
    c.diagonal_gap = terms.diagonal_gap;
    c.terms = bound_inputs(model, networks, data, terms, options);
    const std::vector<Block> blocks = blocks_of(model.op.structure());
    for (const std::size_t i : terms.worst) {
        c.worst.push_back(data.supports[i].entries);
        for (std::uint32_t& entry : c.worst.back())
            entry += static_cast<std::uint32_t>(blocks[data.supports[i].block].col);
    }
    if (input.size > 0) {
        c.f_all = f_of_all_supports(networks, input.size);
        BoundInputs all = c.terms;
        for (std::size_t k = 0; k < all.layers.size(); ++k)
            all.layers[k].f += c.f_all[k] - terms.layers[k].f;
        c.alpha_all = alpha(all);
    }
    c.alpha = alpha(c.terms);
    c.member = {alpha_hard(c.terms) < 1, alpha_soft(c.terms) < 1, c.diagonal_gap < kUnit};
    for (const LayerTerms& layer : c.terms.layers)
        c.good_rate =
            std::max(c.good_rate, (2 * static_cast<double>(c.support_size) - 1) * layer.mu);

    const auto K = static_cast<double>(model.spec.layers);
    const double work =
        static_cast<double>(c.supports) * K * K * std::pow(static_cast<double>(c.support_size), 3);
    // The products are those of the very operator and weights: a radius leaves only the norms.
    c.companion = model.spec.update.momentum && options.operator_radius == 0 &&
                  options.weight_radius == 0 && work < kMostCompanionWork;
    c.bound = error_bound(
        c.terms, c.companion ? companion_responses(networks, data.supports, pool) : Responses{});
    c.cvg = cvg(c.terms);
    c.asked = asked_thresholds(c.terms);
    c.measured = measure_layers(networks, data, pool);
    if (model.spec.update.is_plain()) {
        c.response = response_bounds(c.terms, c.bound);
        c.theorem = theorem_1(with_defaults(options.theorem, c, options.operator_radius),
                              c.support_size, c.bound.error.back(), *c.response);
    }
    judge(c);
    return c;
}

std::string weights_hash(const Model& model) {
    Fingerprint hash;
    hash.mix(model.op.values());
    for (const auto& layer : model.weights) hash.mix(std::span<const float>(layer));
    for (const auto* values : {&model.theta, &model.beta, &model.omega})
        hash.mix(std::span<const float>(*values));
    hash.mix(&model.spec.delta, sizeof model.spec.delta);
    return hash.text();
}

}  // namespace pibinn
