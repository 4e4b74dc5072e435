#include "spectral/error_proof.hpp"

#include <algorithm>
#include <cmath>

#include "core/infinity.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kFollowedPerTask = 16;
// Multiplications, about ten seconds of one core.
constexpr double kMostWork = 1e10;
// The matrices of all supports are in memory at once.
constexpr double kMostNumbers = 1.5e8;

/// What is no number proves nothing.
double proven(double value) { return std::isnan(value) ? kInfinity : value; }

}  // namespace

ErrorProof::ErrorProof(const std::vector<BlockNetwork>& networks, const BoundInputs* norms,
                       const std::vector<Support>& supports, double B, double noise,
                       double rounding, ThreadPool& pool)
    : pool_(pool) {
    if (norms) {
        norms_.emplace(*norms);
        outside_ = norms->outside;
    }
    supports_.reserve(supports.size());
    for (const Support& support : supports)
        supports_.emplace_back(networks[support.block], support, B, noise, rounding);
}

double ErrorProof::needed() {
    const double by_norms = !norms_ ? kInfinity : outside_ ? proven(norms_->needed()) : 0;
    if (supports_.empty()) return by_norms;
    double most = 0;
    for (const SupportRecursion& support : supports_)
        most = std::max(most, proven(support.needed()));
    return std::min(by_norms, most);
}

double ErrorProof::advance(const Shrink& shrink) {
    const double by_norms = norms_ ? proven(norms_->advance(shrink)) : kInfinity;
    if (supports_.empty()) return by_norms;
    std::vector<double> errors(supports_.size());
    pool_.run_chunks(supports_.size(), kFollowedPerTask,
                     [&](std::size_t, std::size_t begin, std::size_t end) {
                         for (std::size_t i = begin; i < end; ++i)
                             errors[i] = proven(supports_[i].advance(shrink));
                     });
    return std::min(by_norms, *std::max_element(errors.begin(), errors.end()));
}

ErrorBound bound_of(ErrorProof& proof, const BlockNetwork& thresholds) {
    ErrorBound bound;
    for (std::size_t k = 0; k < thresholds.spec.layers; ++k) {
        const Shrink shrink = thresholds.shrink(k);
        const double needed = proof.needed();
        bound.theta_needed.push_back(needed);
        const double zone = dead_zone(shrink);
        if (bound.first_leak == 0 && (needed > 0 || zone < 0) &&
            !keeps_at_zero(thresholds.spec.activation, zone, needed))
            bound.first_leak = k + 1;
        bound.error.push_back(proof.advance(shrink));
    }
    return bound;
}

bool can_follow(const std::vector<BlockNetwork>& networks, std::size_t supports, std::size_t s) {
    double n = 0, m = 0;
    for (const BlockNetwork& network : networks) {
        n = std::max(n, static_cast<double>(network.n()));
        m = std::max(m, static_cast<double>(network.m()));
    }
    const auto K = static_cast<double>(networks.front().spec.layers);
    const auto size = static_cast<double>(s), count = static_cast<double>(supports);
    const double work = count * K * (n * m * size + n * size * size * K);
    const double numbers = count * size * 3 * (size * K + m) + count * n;
    return work < kMostWork && numbers < kMostNumbers;
}

std::vector<Support> enumerated_supports(const std::vector<BlockNetwork>& networks, std::size_t s) {
    double count = 0;
    for (const BlockNetwork& network : networks) {
        double choices = 1;
        for (std::size_t i = 0; i < s; ++i)
            choices *= static_cast<double>(network.n() - std::min(i, network.n())) /
                       static_cast<double>(i + 1);
        count += choices;
    }
    std::vector<Support> supports;
    if (!(count < 1e6) || !can_follow(networks, static_cast<std::size_t>(count), s))
        return supports;
    for (std::size_t b = 0; b < networks.size(); ++b) {
        const auto n = static_cast<std::uint32_t>(networks[b].n());
        if (s > n) continue;
        Support support{b, {}};
        for (std::uint32_t i = 0; i < s; ++i) support.entries.push_back(i);
        // The next combination: the last entry that can still move does, those behind it follow.
        for (;;) {
            supports.push_back(support);
            std::size_t at = s;
            while (at > 0 && support.entries[at - 1] == n - s + at - 1) --at;
            if (at == 0) break;
            ++support.entries[at - 1];
            for (std::size_t i = at; i < s; ++i) support.entries[i] = support.entries[i - 1] + 1;
        }
    }
    return supports;
}

}  // namespace pibinn
