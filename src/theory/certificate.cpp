#include "pibinn/certificate.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/fingerprint.hpp"
#include "core/infinity.hpp"
#include "pibinn/error.hpp"
#include "spectral/alpha.hpp"
#include "spectral/class_proof.hpp"
#include "spectral/error_proof.hpp"
#include "spectral/rounding.hpp"
#include "spectral/spectral_terms.hpp"
#include "theory/adversary.hpp"
#include "theory/block_data.hpp"
#include "theory/verdict.hpp"

namespace pibinn {

namespace {

// W_i^T A_i = 1 of weights that are stored in float32.
constexpr double kUnit = 1e-5;

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
void enter_gram_form(const std::vector<BlockNetwork>& networks, const BlockData& data,
                     SpectralTerms& terms) {
    if (data.supports.size() != 1)
        fail_usage(
            fmt::format("the Gram form has one support, the signals have {}", data.supports.size()),
            "give CertificateInput::support");
    const Support& support = data.supports.front();
    const BlockNetwork& network = networks[support.block];
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

BoundInputs asked_inputs(const std::vector<BlockNetwork>& networks, const BlockData& data,
                         const SpectralTerms& terms, std::size_t s,
                         const CertificateOptions& options, double B) {
    BoundInputs in = pibinn::bound_inputs(networks, terms, s, B > 0 ? B : data.norm,
                                          std::max(options.noise, data.noise));
    // A signal scaled to length B may be longer by rounding.
    if (data.norm > in.B * (1 + 1e-6))
        fail_input(fmt::format("a signal has norm {:.6g}, over B = {:.6g}", data.norm, in.B),
                   "raise B, or leave it out to take the largest norm");
    in.B = std::max(in.B, data.norm);
    in.operator_radius = options.operator_radius;
    in.weight_radius = options.weight_radius;
    in.threshold_radius = options.threshold_radius;
    in.rounding = options.float32 ? kFloat32 : 0;
    return inflated(in);
}

/// The better of norms and of following each of the supports. Supports are followed for the very
/// operator, weights and thresholds: a radius leaves only the norms.
ErrorBound proven_bound(const std::vector<BlockNetwork>& networks, const BoundInputs& terms,
                        const std::vector<Support>& supports, const CertificateOptions& options,
                        ThreadPool& pool, bool* followed = nullptr) {
    const bool exact =
        options.operator_radius == 0 && options.weight_radius == 0 && options.threshold_radius == 0;
    const bool follow =
        exact && !supports.empty() && can_follow(networks, supports.size(), terms.s);
    if (followed) *followed = follow;
    if (!follow) return error_bound(terms);
    ErrorProof proof(networks, &terms, supports, terms.B, terms.noise, terms.rounding, pool);
    return bound_of(proof, networks.front());
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
        for (const LayerTerms& layer : c.basis().layers) weight = std::max(weight, layer.weight);
        // A matrix of s columns of signs has norm sqrt(m s) at most, and may have it.
        inputs.b_theta = c.scale > 0 ? c.scale * std::sqrt(m * s) : weight;
    }
    return inputs;
}

std::string network_line(const Model& model) {
    const Structure& s = model.op.structure();
    const std::string repeat =
        s.kind() == StructureKind::repeated ? fmt::format(" x {}", s.repeat()) : "";
    return fmt::format(
        "{} layers of {} weights on a {}{} operator of {} x {}, {} activation, {} "
        "update, delta {:.4g}",
        model.spec.layers, to_string(model.spec.weights), to_string(s.kind()), repeat, s.rows(),
        s.cols(), to_string(model.spec.activation), to_string(model.spec.update), model.spec.delta);
}

}  // namespace

Certificate certify(const Model& model, const CertificateInput& asked,
                    const CertificateOptions& asked_options, ThreadPool& pool) {
    CertificateInput input = asked;
    CertificateOptions options = asked_options;
    check_options(options);
    const bool of_model = take_class(model, input, options);
    const std::vector<BlockNetwork> networks = block_networks(model);
    const CertifiedSignals signals = certified_signals(model, input, options.B, pool);
    BlockData data = split_signals(model, networks, signals);
    const std::size_t supports = data.supports.size();
    if (options.noise > 0 || data.noise > 0) follow_silent_blocks(networks, data);
    SpectralTerms terms = spectral_terms(networks, data.supports, pool);
    if (options.gram) enter_gram_form(networks, data, terms);

    Certificate c;
    c.spec = model.spec;
    c.network = network_line(model);
    c.source = signals.source;
    c.source.of_model = of_model;
    c.gram = options.gram;
    c.blocks = model.op.structure().repeat() * networks.size() > 1;
    c.scale = model.scale();
    c.weights_hash = weights_hash(model);
    c.signals = data.signals;
    c.supports = supports;
    c.support_size = data.largest;
    c.r = terms.r;
    c.L = terms.L;
    c.diagonal_gap = terms.diagonal_gap;
    c.operator_radius = options.operator_radius;
    c.weight_radius = options.weight_radius;
    c.threshold_radius = options.threshold_radius;
    c.measured_noise = data.noise;
    c.terms = asked_inputs(networks, data, terms, data.largest, options, signals.B);
    for (const std::size_t i : terms.worst) {
        c.worst.push_back(data.supports[i].entries);
        for (std::uint32_t& entry : c.worst.back())
            entry += static_cast<std::uint32_t>(networks[data.supports[i].block].block.col);
    }
    if (signals.size > 0) {
        AllSupports all;
        all.size = signals.size;
        all.terms = asked_inputs(networks, data, terms_of_all_supports(networks, all.size),
                                 all.size, options, signals.B);
        all.bound = proven_bound(networks, all.terms, enumerated_supports(networks, all.size),
                                 options, pool);
        c.over_all = proves(all.terms, all.bound);
        c.all = std::move(all);
    }
    c.alpha = alpha(c.terms);
    c.member = {alpha_hard(c.terms) < 1, alpha_soft(c.terms) < 1, c.diagonal_gap < kUnit};
    for (const LayerTerms& layer : c.terms.layers)
        c.good_rate =
            std::max(c.good_rate, (2 * static_cast<double>(c.support_size) - 1) * layer.mu);

    c.bound = c.over_all
                  ? c.all->bound
                  : proven_bound(networks, c.terms, data.supports, options, pool, &c.followed);
    c.cvg = cvg(c.basis());
    // The paper knows neither of other updates nor of learned shrinks.
    const bool papers = model.spec.update.is_plain() && is_certifiable(model.spec.activation);
    if (!papers) std::fill(c.cvg.begin(), c.cvg.end(), kInfinity);
    c.asked = asked_thresholds(c.basis());
    c.measured = measure_layers(networks, data, pool);
    if (options.attack > 0) {
        AttackedClass attacked{data.supports, signals.size, c.terms.B, c.terms.noise};
        if (signals.size > 0) attacked.supports.clear();
        c.attack = attack(networks, attacked, options.attack, input.seed, pool);
    }
    if (papers) {
        c.response = response_bounds(c.basis(), c.bound);
        c.theorem = theorem_1(with_defaults(options.theorem, c, options.operator_radius),
                              c.support_size, c.bound.error.back(), *c.response);
    }
    judge(c);
    return c;
}

Certificate certify(const Model& model, const CertificateInput& input,
                    const CertificateOptions& options) {
    ThreadPool pool;
    return certify(model, input, options, pool);
}

Certificate certify(const Model& model, const Batch& signals) {
    CertificateInput input;
    input.signals = signals;
    return certify(model, input);
}

std::string weights_hash(const Model& model) {
    Fingerprint hash;
    const NetworkSpec& spec = model.spec;
    const Structure& structure = model.op.structure();
    // Numbers and not the structs, whose padding may hold anything.
    std::vector<std::uint64_t> shape{static_cast<std::uint64_t>(spec.architecture),
                                     spec.layers,
                                     static_cast<std::uint64_t>(spec.activation),
                                     static_cast<std::uint64_t>(spec.weights),
                                     spec.update.residual_threshold,
                                     spec.update.momentum,
                                     spec.update.onsager,
                                     static_cast<std::uint64_t>(structure.kind()),
                                     structure.rows(),
                                     structure.cols(),
                                     structure.repeat()};
    for (const Block& b : structure.diagonal())
        shape.insert(shape.end(), {b.row, b.col, b.rows, b.cols});
    hash.mix(std::span<const std::uint64_t>(shape));
    hash.mix(structure.offsets());
    hash.mix(structure.row_indices());
    hash.mix(&spec.delta, sizeof spec.delta);
    hash.mix(model.op.values());
    for (const auto& layer : model.weights) hash.mix(std::span<const float>(layer));
    if (spec.polish > 0) hash.mix(&spec.polish, sizeof spec.polish);
    if (spec.centre) hash.mix(&spec.centre, sizeof spec.centre);
    if (!spec.entrywise()) {
        const std::uint64_t sites[]{static_cast<std::uint64_t>(spec.groups), spec.neighbours,
                                    spec.grid};
        hash.mix(std::span<const std::uint64_t>(sites));
    }
    for (const auto* values : {&model.theta, &model.gain, &model.step, &model.beta, &model.omega,
                               &model.local, &model.cut, &model.prior})
        hash.mix(std::span<const float>(*values));
    return hash.text();
}

}  // namespace pibinn
