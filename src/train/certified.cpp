#include "train/certified.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// Every batch looks at all of them.
constexpr std::size_t kMostSupports = 256;

using Links = Eigen::Map<const Eigen::MatrixXf>;

Links block_links(const Block& b, std::span<const float> links) {
    return {links.data() + b.first_link, static_cast<Index>(b.rows), static_cast<Index>(b.cols)};
}

MatrixXd step(const MatrixXd& gram, double delta, double factor) {
    MatrixXd out = -factor * gram;
    out.diagonal().array() += delta;
    return out;
}

double norm(const MatrixXd& matrix) {
    return Eigen::JacobiSVD<MatrixXd>(matrix).singularValues()[0];
}

/// The largest |W_i^T A_j|, i != j, of a block.
struct Coherence {
    double mu = 0;
    Index i = 0, j = 0;
    double sign = 1;
};

Coherence coherence(const Links& w, const Links& a) {
    const Eigen::MatrixXf g = w.transpose() * a;
    Coherence out;
    for (Index j = 0; j < g.cols(); ++j)
        for (Index i = 0; i < g.rows(); ++i)
            if (i != j && std::abs(double{g(i, j)}) > out.mu)
                out = {std::abs(double{g(i, j)}), i, j, g(i, j) < 0 ? -1.0 : 1.0};
    return out;
}

}  // namespace

std::size_t CertifiedSet::link(const Place& place, std::size_t i, std::size_t j) {
    return place.block.first_link + place.entries[j] * place.block.rows + i;
}

CertifiedSet::CertifiedSet(const Problem& problem, const NetworkSpec& spec)
    : spec_(spec), op_(problem.op) {
    const Structure& s = op_.structure();
    if (spec.architecture != Architecture::unrolled || s.kind() == StructureKind::mask ||
        spec.activation == Activation::relu)
        fail_usage(
            "the key 'alpha' of a stage is for unrolled networks on dense, repeated or "
            "blocks operators with activation soft or hard",
            "remove it");
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
                               "remove alpha from the stage, or set problem.support");
            }
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

CertifiedSet::Terms CertifiedSet::terms(std::span<const float> weights) const {
    Terms out;
    for (std::size_t p = 0; p < places_.size(); ++p)
        out.grams.push_back(columns(places_[p], weights).transpose() * a_[p]);
    if (spec_.activation == Activation::soft)
        for (const Block& b : op_.structure().diagonal())
            out.extra = std::max(
                out.extra, static_cast<double>(largest_) *
                               coherence(block_links(b, weights), block_links(b, op_.values())).mu);
    return out;
}

double CertifiedSet::alpha(const Terms& terms, double factor) const {
    double most = 0;
    for (const MatrixXd& gram : terms.grams)
        most = std::max(most, norm(step(gram, spec_.delta, factor)));
    return most + factor * terms.extra;
}

double CertifiedSet::alpha(const ParameterStore& weights) const {
    double most = 0;
    for (std::size_t k = 1; k <= spec_.layers; ++k)
        most = std::max(most, alpha(terms(weights.weights(k)), 1));
    return most;
}

double CertifiedSet::factor(const std::vector<Terms>& layers, double target) const {
    const auto at = [&](double factor) {
        double most = 0;
        for (const Terms& t : layers) most = std::max(most, alpha(t, factor));
        return most;
    };
    if (at(1) <= target) return 1;
    // Convex in the factor: the least lies between 0 and where it has passed its value at 0.
    double low = 0, high = 1;
    while (at(high) < at(0) && high < 1e6) high *= 2;
    for (int i = 0; i < 60; ++i) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        (at(a) <= at(b) ? high : low) = at(a) <= at(b) ? b : a;
    }
    double inside = 0.5 * (low + high), outside = 1;
    if (at(inside) > target) return 1;
    for (int i = 0; i < 40; ++i) {
        const double middle = 0.5 * (inside + outside);
        (at(middle) <= target ? inside : outside) = middle;
    }
    return inside;
}

double CertifiedSet::factor(const ParameterStore& weights, double target) const {
    std::vector<Terms> layers;
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
        const Coherence c = coherence(block_links(b, weights), block_links(b, op_.values()));
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
    Terms now = terms(w);
    Slant slant = steepest(now);
    while (alpha(now, 1) > target && factor({now}, target) == 1) {
        // Flipping w_ij adds -2 w_ij q_j (A_S q)_i to q^T W_S^T A_S q.
        const Place& place = places_[slant.place];
        const Eigen::VectorXd aq = a_[slant.place] * slant.q;
        std::size_t best = 0;
        double gain = 0;
        for (std::size_t j = 0; j < place.entries.size(); ++j)
            for (std::size_t i = 0; i < place.block.rows; ++i) {
                const std::size_t l = link(place, i, j);
                const double g = -w[l] * slant.q[static_cast<Index>(j)] * aq[static_cast<Index>(i)];
                if (g <= gain) continue;
                gain = g;
                best = l;
            }
        if (gain == 0) return;
        w[best] = -w[best];
        now = terms(w);
        const Slant after = steepest(now);
        if (after.least <= slant.least) {
            w[best] = -w[best];
            return;
        }
        float& hidden = latent.weights(layer)[best];
        hidden = hidden == 0 ? w[best] : -hidden;
        slant = after;
    }
}

/// Near factor 0 the norm of delta I - factor G falls as fast as the least eigenvalue of G's
/// symmetric part is large.
CertifiedSet::Slant CertifiedSet::steepest(const Terms& terms) const {
    Slant out;
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
        const Terms t = terms(w);
        std::size_t worst = 0;
        double most = 0;
        for (std::size_t p = 0; p < places_.size(); ++p) {
            const double f = norm(step(t.grams[p], spec_.delta, 1));
            if (f > most) worst = p;
            most = std::max(most, f);
        }
        if (most + t.extra <= target) continue;
        // f = u^T (delta I - W_S^T A_S) v, so that column j of W_S answers by -u_j A_S v.
        const Eigen::JacobiSVD<MatrixXd> svd(step(t.grams[worst], spec_.delta, 1),
                                             Eigen::ComputeThinU | Eigen::ComputeThinV);
        const Eigen::VectorXd u = svd.matrixU().col(0), av = a_[worst] * svd.matrixV().col(0);
        const auto out = gradient.weights(k);
        const Place& place = places_[worst];
        for (std::size_t j = 0; j < place.entries.size(); ++j)
            for (std::size_t i = 0; i < place.block.rows; ++i)
                out[link(place, i, j)] -= static_cast<float>(weight * u[static_cast<Index>(j)] *
                                                             av[static_cast<Index>(i)]);
        if (spec_.activation == Activation::soft) add_coherence(w, weight, out);
    }
}

}  // namespace pibinn
