#include "train/guarantee.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "model/model_parameters.hpp"
#include "pibinn/error.hpp"
#include "spectral/alpha.hpp"
#include "spectral/convex_min.hpp"

namespace pibinn {

namespace {

using Eigen::Index;

// A size is chosen only where its bound says something: -10 dB.
const double kUseful = std::pow(10, -0.5);
// Scales around the one that gives W_i^T A_i = 1 on average.
constexpr double kLeastFactor = 0.6, kMostFactor = 1.4;
constexpr double kFactorTolerance = 0.01;
// Blocks with more columns take one reach alone, since each takes seconds.
constexpr std::size_t kManyColumns = 160;

/// A shrink that has its whole effect between theta and 2 theta: entries beyond are left alone. For
/// one piece it is soft.
Shrink firm(std::size_t pieces) {
    Shrink shrink{1, {}, {}};
    for (std::size_t j = 0; j < pieces; ++j) {
        shrink.thresholds.push_back(std::pow(2.0, static_cast<double>(j)));
        shrink.gains.push_back(pieces == 1 ? 1 : j == 0 ? 2 : j == 1 ? -1 : 0);
    }
    return shrink;
}

/// What a proof seldom allows for: thresholds or an Onsager term that follow the residual.
bool follows_residual(const NetworkSpec& spec) {
    return spec.update.residual_threshold || spec.update.onsager;
}

void require_provable(const NetworkSpec& spec, const Structure& structure) {
    if (spec.architecture == Architecture::unrolled && structure.kind() != StructureKind::mask &&
        is_certifiable(spec))
        return;
    fail_usage(
        "Stage::guarantee is for unrolled networks on dense, repeated or blocks operators with "
        "activation soft or hard, or piecewise with the plain update",
        "remove it, or use the recipe \"guaranteed\", which is of the plain update");
}

}  // namespace

Guarantee::Guarantee(const SignalClass& signals, const Operator& op, const NetworkSpec& spec,
                     std::uint64_t seed, ThreadPool& pool)
    : asked_(signals), op_(op), spec_(spec), seed_(seed), pool_(pool) {
    require_provable(spec, op.structure());
    base_ = block_networks(untrained_model(spec, op, 0));
    for (BlockNetwork& network : base_)
        if (spec.has_gains())
            network.shrinks.assign(spec.layers, firm(spec.thresholds_per_layer()));
    disturbers_.resize(base_.size());
    if (!signals.supports.empty()) {
        proof_.emplace(signals, op.structure());
        std::vector<std::set<Index>> entries(base_.size());
        for (const Support& support : proof_->supports())
            entries[support.block].insert(support.entries.begin(), support.entries.end());
        for (std::size_t b = 0; b < base_.size(); ++b)
            disturbers_[b].assign(entries[b].begin(), entries[b].end());
        return;
    }
    SignalClass least = signals;
    // More than that is refused once the largest size that works is known.
    least.size = std::clamp<std::size_t>(signals.size, 1, largest_size(op.structure()));
    proof_.emplace(least, op.structure());
    for (std::size_t b = 0; b < base_.size(); ++b)
        for (Index j = 0; j < base_[b].A.cols(); ++j) disturbers_[b].push_back(j);
}

std::vector<BlockNetwork> Guarantee::unit_networks(double reach) const {
    std::vector<BlockNetwork> networks = base_;
    for (std::size_t b = 0; b < networks.size(); ++b)
        networks[b].W =
            guarantee_weights(networks[b].A, disturbers_[b], spec_, reach, seed_ + b, pool_);
    // Blocks share one scale, except where every column has its own.
    const Quantiser::Scale scale = rules_of(spec_.weights).quantiser.scale;
    if (scale == Quantiser::Scale::none || scale == Quantiser::Scale::channel) return networks;
    const double size = std::abs(networks.front().W.front()(0, 0));
    for (BlockNetwork& network : networks)
        for (Eigen::MatrixXd& w : network.W) w *= size / std::abs(w(0, 0));
    return networks;
}

Guarantee::Candidate Guarantee::scaled(const std::vector<BlockNetwork>& unit,
                                       const ClassProof& proof) const {
    const auto at = [&](double factor) {
        Candidate candidate{unit, 0};
        for (BlockNetwork& network : candidate.networks)
            for (Eigen::MatrixXd& w : network.W) w = (factor * w).cast<float>().cast<double>();
        candidate.bound =
            proof.settle(candidate.networks, ClassProof::Thresholds::least, pool_).error.back() /
            proof.signals().norm;
        return candidate;
    };
    const auto bound = [&](double factor) { return std::log(at(factor).bound + 1e-300); };
    const bool exact = !rules_of(spec_.weights).quantised() && !spec_.tied();
    return at(exact ? 1.0 : convex_min(bound, kLeastFactor, kMostFactor, kFactorTolerance));
}

Guarantee::Candidate Guarantee::best_for(const SignalClass& signals) const {
    ClassProof proof(signals, op_.structure());
    proof.hurry(true);
    Candidate best;
    for (const auto& unit : units_) {
        Candidate now = scaled(unit, proof);
        if (best.networks.empty() || now.bound < best.bound) best = std::move(now);
    }
    proof.hurry(false);
    best.bound = proof.settle(best.networks, ClassProof::Thresholds::least, pool_).error.back() /
                 proof.signals().norm;
    return best;
}

double Guarantee::construct(ParameterStore& latent) {
    std::size_t columns = 0;
    for (const BlockNetwork& network : base_) columns = std::max(columns, network.n());
    std::vector<double> reaches{0.9};
    if (!rules_of(spec_.weights).quantised())
        reaches = {1.0};
    else if (columns <= kManyColumns)
        reaches = {0.75, 0.85, 0.95, 1.0};
    units_.clear();
    for (const double reach : reaches) units_.push_back(unit_networks(reach));
    require_size();

    SignalClass signals = proof_->signals();
    signals.norm = asked_.norm;
    Candidate best = best_for(signals);
    if (asked_.supports.empty() && asked_.size == 0)
        for (SignalClass larger = signals; best.bound < kUseful;) {
            signals = larger;
            ++larger.size;
            if (larger.size > op_.structure().parts().front().rows) break;
            Candidate next = best_for(larger);
            if (!(next.bound < kUseful)) break;
            best = std::move(next);
        }
    if (!(best.bound < 1)) refuse(best.bound);
    proof_.emplace(signals, op_.structure());
    store(best.networks, latent);
    units_.clear();
    return best.bound * proof_->signals().norm;
}

std::size_t Guarantee::largest_that_works(std::size_t most) const {
    SignalClass signals = asked_;
    std::size_t works = 0;
    // From below: no larger size has a lower bound, and few work.
    for (signals.size = 1; signals.size <= most && best_for(signals).bound < 1; ++signals.size)
        works = signals.size;
    return works;
}

std::string Guarantee::size_hint(std::size_t most) const {
    const std::size_t works = largest_that_works(most);
    return works > 0 ? fmt::format("the largest SignalClass::size that works here is {}", works)
                     : "give SignalClass::supports, use weights = \"float\", an operator of lower "
                       "coherence, or less noise";
}

void Guarantee::require_size() const {
    const std::size_t most = largest_size(op_.structure());
    if (asked_.size <= most) return;
    try {
        require_class(asked_, op_.structure());
    } catch (const Error& error) {
        fail_usage(error.message(), follows_residual(spec_) ? error.hint() : size_hint(most));
    }
}

void Guarantee::refuse(double bound) const {
    const std::size_t size = std::max<std::size_t>(1, asked_.size);
    const bool all = asked_.supports.empty();
    const std::string what = fmt::format(
        "nothing can be guaranteed {} with weights '{}'{}",
        all ? fmt::format("for all supports of {} entr{}", size, size == 1 ? "y" : "ies")
            : "on these supports",
        to_string(spec_.weights),
        asked_.noise > 0 ? fmt::format(" and noise {:.4g}", asked_.noise) : "");
    if (follows_residual(spec_))
        fail_usage(what +
                       ": the accelerated update's thresholds or its Onsager term follow the "
                       "residual, and no weights found keep the support then",
                   "set NetworkSpec::update.residual_threshold = false and "
                   "NetworkSpec::update.onsager = false, or NetworkSpec::update = "
                   "Update::plain()");
    fail_usage(fmt::format("{}: the least bound is {:.3g} of the longest signal", what, bound),
               all ? size_hint(size - 1)
                   : "name fewer entries, use weights = \"float\", or lower the noise");
}

void Guarantee::store(const std::vector<BlockNetwork>& networks, ParameterStore& latent) const {
    for (std::size_t k = 0; k < spec_.layers; ++k) {
        for (const BlockNetwork& network : networks) {
            if (spec_.tied()) continue;
            const auto links = latent.weights(k + 1);
            for (Index l = 0; l < network.W[k].size(); ++l)
                links[network.block.first_link + static_cast<std::size_t>(l)] =
                    static_cast<float>(network.W[k].data()[l]);
        }
        const BlockNetwork& any = networks.front();
        const Shrink shrink = any.shrink(k);
        const std::size_t pieces = spec_.thresholds_per_layer();
        for (std::size_t j = 0; j < pieces; ++j) {
            latent.theta()[k * pieces + j] =
                static_cast<float>(shrink.thresholds.empty() ? shrink.theta : shrink.thresholds[j]);
            if (spec_.has_gains())
                latent.gain()[k * pieces + j] = static_cast<float>(shrink.gains[j]);
        }
        // Of tied weights the step is the factor of the operator.
        if (!latent.step().empty())
            latent.step()[k] =
                spec_.tied() ? static_cast<float>(any.W[k].norm() / any.A.norm()) : 1.0F;
    }
    std::fill(latent.beta().begin(), latent.beta().end(), 0.0F);
    std::fill(latent.omega().begin(), latent.omega().end(), 0.0F);
    for (float& scale : latent.scale())
        scale = static_cast<float>(std::abs(networks.front().W[0](0, 0)));
}

double Guarantee::project(const ParameterStore& effective, ParameterStore& latent) const {
    std::vector<BlockNetwork> networks = block_networks(model_of(spec_, op_, effective));
    const ErrorBound bound = proof_->settle(networks, ClassProof::Thresholds::raised, pool_);
    const std::size_t pieces = spec_.thresholds_per_layer();
    for (std::size_t k = 0; k < spec_.layers; ++k) {
        const Shrink shrink = networks.front().shrink(k);
        for (std::size_t j = 0; j < pieces; ++j)
            latent.theta()[k * pieces + j] =
                static_cast<float>(shrink.thresholds.empty() ? shrink.theta : shrink.thresholds[j]);
    }
    return bound.error.back();
}

ErrorBound Guarantee::settle(const SignalClass& signals, Model& model, ThreadPool& pool) {
    const ClassProof proof(signals, model.op.structure());
    std::vector<BlockNetwork> networks = block_networks(model);
    proof.settle(networks, ClassProof::Thresholds::raised, pool);
    const std::size_t pieces = model.spec.thresholds_per_layer();
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        const Shrink shrink = networks.front().shrink(k);
        for (std::size_t j = 0; j < pieces; ++j)
            model.theta[k * pieces + j] =
                static_cast<float>(shrink.thresholds.empty() ? shrink.theta : shrink.thresholds[j]);
    }
    return proof.bound(block_networks(model), pool);
}

bool Guarantee::holds(std::span<const float> x) const {
    return is_of_class(proof_->signals(), proof_->supports(), op_.structure(), x);
}

bool is_of_class(const SignalClass& signals, const std::vector<Support>& supports,
                 const Structure& structure, std::span<const float> x) {
    const double most = signals.norm * (1 + 1e-6);  // float32 rounds lengths
    const std::size_t n = structure.cols() / structure.repeat();
    for (std::size_t u = 0; u < structure.repeat(); ++u)
        for (std::size_t b = 0; b < structure.parts().size(); ++b) {
            const Block& block = structure.parts()[b];
            std::vector<std::uint32_t> entries;
            double square = 0;
            for (std::size_t j = 0; j < block.cols; ++j) {
                const float v = x[u * n + block.col + j];
                if (v != 0) entries.push_back(static_cast<std::uint32_t>(j));
                square += double{v} * v;
            }
            if (square > most * most || (signals.size > 0 && entries.size() > signals.size))
                return false;
            if (signals.size == 0 &&
                std::none_of(supports.begin(), supports.end(), [&](const Support& support) {
                    return support.block == b &&
                           std::includes(support.entries.begin(), support.entries.end(),
                                         entries.begin(), entries.end());
                }))
                return false;
        }
    return true;
}

double share_outside(const SignalClass& signals, const Operator& op, const Batch& x) {
    const std::vector<Support> supports = supports_of(signals, op.structure());
    std::size_t outside = 0;
    for (std::size_t row = 0; row < x.rows(); ++row)
        outside += !is_of_class(signals, supports, op.structure(), x.row(row));
    return static_cast<double>(outside) / static_cast<double>(x.rows());
}

}  // namespace pibinn
