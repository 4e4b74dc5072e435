#include "train/certified.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "spectral/coherence.hpp"
#include "spectral/convex_min.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Every batch looks at all of them.
constexpr std::size_t kMostSupports = 256;
// Of the factor, which ends as float32.
constexpr double kTolerance = 1e-12;

using Links = Eigen::Map<const Eigen::MatrixXf>;

Links block_links(const Block& b, std::span<const float> links) {
    return {links.data() + b.first_link, static_cast<Index>(b.rows), static_cast<Index>(b.cols)};
}

/// Of a block, in float32 as the links are.
Coherence block_coherence(const Block& b, std::span<const float> weights,
                          std::span<const float> op) {
    const Eigen::MatrixXf gram = block_links(b, weights).transpose() * block_links(b, op);
    return coherence(gram);
}

}  // namespace

std::size_t CertifiedSet::link(const Place& place, std::size_t i, std::size_t j) {
    return place.block.first_link + place.entries[j] * place.block.rows + i;
}

CertifiedSet::CertifiedSet(const Problem& problem, const NetworkSpec& spec)
    : spec_(spec), op_(problem.op) {
    const Structure& s = op_.structure();
    if (spec.architecture != Architecture::unrolled || s.kind() == StructureKind::mask ||
        !is_certifiable(spec.activation))
        fail_usage(
            "Stage::alpha is for unrolled networks on dense, repeated or "
            "blocks operators with activation soft or hard",
            "remove it");
    if (spec.centre)
        fail_usage("Stage::alpha is for networks whose residuals are not centred",
                   "leave NetworkSpec::centre off, or remove it");
    std::set<Place> places;
    for (std::size_t row = 0; row < problem.train.x.rows(); ++row)
        for (std::size_t u = 0; u < s.repeat(); ++u)
            for (const Block& b : s.diagonal()) {
                const auto x =
                    problem.train.x.row(row).subspan(u * s.cols() / s.repeat() + b.col, b.cols);
                Place place{b, {}};
                for (std::size_t j = 0; j < x.size(); ++j)
                    if (x[j] != 0) place.entries.push_back(static_cast<std::uint32_t>(j));
                if (place.entries.empty()) continue;
                places.insert(std::move(place));
                if (places.size() > kMostSupports)
                    fail_usage(fmt::format("the training signals have over {} supports, more than "
                                           "alpha can be kept on",
                                           kMostSupports),
                               "remove Stage::alpha, or set SparsePrior::support");
            }
    set_ = weight_set(spec.activation);
    places_.assign(places.begin(), places.end());
    for (const Place& place : places_) {
        a_.push_back(columns(place, op_.values()));
        largest_ = std::max(largest_, place.entries.size());
    }
}

MatrixXd CertifiedSet::columns(const Place& place, std::span<const float> links) const {
    const Links all = block_links(place.block, links);
    MatrixXd out(all.rows(), static_cast<Index>(place.entries.size()));
    for (std::size_t j = 0; j < place.entries.size(); ++j)
        out.col(static_cast<Index>(j)) = all.col(place.entries[j]).cast<double>();
    return out;
}

AlphaTerms CertifiedSet::terms(std::span<const float> weights) const {
    AlphaTerms out;
    for (std::size_t p = 0; p < places_.size(); ++p)
        out.grams.push_back(columns(places_[p], weights).transpose() * a_[p]);
    if (set_ == WeightSet::soft)
        for (const Block& b : op_.structure().diagonal())
            out.extra = std::max(
                out.extra,
                coherence_term(set_, block_coherence(b, weights, op_.values()).mu, largest_));
    return out;
}

double CertifiedSet::alpha(const ParameterStore& weights) const {
    double most = 0;
    for (std::size_t k = 1; k <= spec_.layers; ++k)
        most = std::max(most, pibinn::alpha(terms(weights.weights(k)), spec_.delta));
    return most;
}

double CertifiedSet::factor(const std::vector<AlphaTerms>& layers, double target) const {
    const auto at = [&](double factor) { return pibinn::alpha(layers, spec_.delta, factor); };
    if (at(1) <= target) return 1;
    // Convex in the factor: the least lies between 0 and where it has passed its value at 0.
    double high = 1;
    while (at(high) < at(0) && high < 1e6) high *= 2;
    const double least = convex_min(at, 0, high, kTolerance);
    if (at(least) > target) return 1;
    return last_inside([&](double factor) { return at(factor) <= target; }, least, 1, kTolerance);
}

double CertifiedSet::factor(const ParameterStore& weights, double target) const {
    std::vector<AlphaTerms> layers;
    for (std::size_t k = 1; k <= spec_.layers; ++k) layers.push_back(terms(weights.weights(k)));
    return factor(layers, target);
}

double CertifiedSet::factor(const ParameterStore& weights, std::size_t layer, double target) const {
    return factor({terms(weights.weights(layer))}, target);
}

void CertifiedSet::add_coherence(std::span<const float> weights, double weight,
                                 std::span<float> gradient) const {
    const Block* worst = nullptr;
    Coherence most;
    for (const Block& b : op_.structure().diagonal()) {
        const Coherence c = block_coherence(b, weights, op_.values());
        if (c.mu <= most.mu) continue;
        most = c;
        worst = &b;
    }
    if (!worst) return;
    const auto a = block_links(*worst, op_.values());
    for (Index i = 0; i < a.rows(); ++i)
        gradient[worst->first_link + static_cast<std::size_t>(most.i * a.rows() + i)] +=
            static_cast<float>(weight * static_cast<double>(largest_) * most.sign * a(i, most.j));
}

void CertifiedSet::flip_signs(std::size_t layer, double target, ParameterStore& weights,
                              ParameterStore& latent) const {
    const auto w = weights.weights(layer);
    AlphaTerms now = terms(w);
    MinEigenpair lowest = min_eigenpair(now);
    while (pibinn::alpha(now, spec_.delta) > target && factor({now}, target) == 1) {
        // Flipping w_ij adds -2 w_ij q_j (A_S q)_i to q^T W_S^T A_S q.
        const Place& place = places_[lowest.place];
        const Eigen::VectorXd aq = a_[lowest.place] * lowest.q;
        std::size_t best = 0;
        double gain = 0;
        for (std::size_t j = 0; j < place.entries.size(); ++j)
            for (std::size_t i = 0; i < place.block.rows; ++i) {
                const std::size_t l = link(place, i, j);
                const double g =
                    -w[l] * lowest.q[static_cast<Index>(j)] * aq[static_cast<Index>(i)];
                if (g <= gain) continue;
                gain = g;
                best = l;
            }
        if (gain == 0) return;
        w[best] = -w[best];
        now = terms(w);
        const MinEigenpair after = min_eigenpair(now);
        if (after.least <= lowest.least) {
            w[best] = -w[best];
            return;
        }
        float& hidden = latent.weights(layer)[best];
        hidden = hidden == 0 ? w[best] : -hidden;
        lowest = after;
    }
}

/// Near factor 0 the slope of the norm of delta I - factor G is minus the least eigenvalue of the
/// symmetric part of G.
CertifiedSet::MinEigenpair CertifiedSet::min_eigenpair(const AlphaTerms& terms) const {
    MinEigenpair out;
    for (std::size_t p = 0; p < places_.size(); ++p) {
        const MatrixXd& g = terms.grams[p];
        const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(0.5 * (g + g.transpose()));
        if (p > 0 && eigen.eigenvalues()[0] >= out.least) continue;
        out = {p, eigen.eigenvalues()[0], eigen.eigenvectors().col(0)};
    }
    return out;
}

void CertifiedSet::add_penalty(const ParameterStore& weights, double target, double weight,
                               ParameterStore& gradient) const {
    for (std::size_t k = 1; k <= spec_.layers; ++k) {
        const std::span<const float> w = weights.weights(k);
        const AlphaTerms t = terms(w);
        std::size_t worst = 0;
        double most = 0;
        for (std::size_t p = 0; p < places_.size(); ++p) {
            const double f = spectral_norm(step_matrix(t.grams[p], spec_.delta));
            if (f > most) worst = p;
            most = std::max(most, f);
        }
        if (most + t.extra <= target) continue;
        // f = u^T (delta I - W_S^T A_S) v, so that column j of W_S answers by -u_j A_S v.
        const Eigen::JacobiSVD<MatrixXd> svd(step_matrix(t.grams[worst], spec_.delta),
                                             Eigen::ComputeThinU | Eigen::ComputeThinV);
        const Eigen::VectorXd u = svd.matrixU().col(0), av = a_[worst] * svd.matrixV().col(0);
        const auto out = gradient.weights(k);
        const Place& place = places_[worst];
        for (std::size_t j = 0; j < place.entries.size(); ++j)
            for (std::size_t i = 0; i < place.block.rows; ++i)
                out[link(place, i, j)] -= static_cast<float>(weight * u[static_cast<Index>(j)] *
                                                             av[static_cast<Index>(i)]);
        if (set_ == WeightSet::soft) add_coherence(w, weight, out);
    }
}

}  // namespace pibinn
