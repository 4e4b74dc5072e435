#include "spectral/class_proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "spectral/rounding.hpp"

namespace pibinn {

namespace {

// Above what a proof needs: weights and thresholds end as float32, in other units too.
constexpr double kMargin = 1e-5;

/// The next float32 above.
double stored(double theta) {
    const auto nearest = static_cast<float>(theta);
    return nearest >= theta ? nearest
                            : std::nextafter(nearest, std::numeric_limits<float>::infinity());
}

}  // namespace

std::vector<Support> supports_of(const SignalClass& signals, const Structure& structure) {
    std::set<Support> supports;
    const std::size_t period = structure.cols() / structure.repeat();
    for (const auto& entries : signals.supports)
        for (std::size_t u = 0; u < structure.repeat(); ++u)
            for (std::size_t b = 0; b < structure.parts().size(); ++b) {
                const Block& block = structure.parts()[b];
                const std::size_t first = u * period + block.col;
                Support part{b, {}};
                for (const std::uint32_t entry : entries)
                    if (entry >= first && entry < first + block.cols)
                        part.entries.push_back(static_cast<std::uint32_t>(entry - first));
                if (part.entries.empty()) continue;
                std::sort(part.entries.begin(), part.entries.end());
                if (part.entries.size() > block.rows)
                    fail_usage(
                        fmt::format("the support has {} entries in a block of {} x {}: more "
                                    "than its measurements",
                                    part.entries.size(), block.rows, block.cols),
                        fmt::format("no theory tells them apart: name at most {}", block.rows));
                supports.insert(std::move(part));
            }
    // Where no support has an entry, noise alone must keep everything at zero: the class is taken
    // a little larger.
    if (!signals.supports.empty())
        for (std::size_t b = 0; b < structure.parts().size(); ++b)
            if (std::none_of(supports.begin(), supports.end(),
                             [&](const Support& s) { return s.block == b; }))
                supports.insert({b, {0}});
    return {supports.begin(), supports.end()};
}

BoundInputs bound_inputs(const std::vector<BlockNetwork>& networks, const SpectralTerms& terms,
                         std::size_t s, double B, double noise) {
    const NetworkSpec& spec = networks.front().spec;
    BoundInputs in;
    in.activation = spec.activation;
    in.update = spec.update;
    in.delta = spec.delta;
    in.s = s;
    in.outside = terms.outside;
    in.least_rows = in.most_rows = networks.front().m();
    for (const BlockNetwork& network : networks) {
        in.least_rows = std::min(in.least_rows, network.m());
        in.most_rows = std::max(in.most_rows, network.m());
    }
    in.B = B;
    in.noise = noise;
    in.operator_norm = terms.operator_norm;
    in.layers = terms.layers;
    return in;
}

ClassProof::ClassProof(const SignalClass& signals, const Structure& structure) : signals_(signals) {
    require_class(signals, structure);
    supports_ = supports_of(signals, structure);
    s_ = signals.size;
    for (const Support& support : supports_) s_ = std::max(s_, support.entries.size());
    if (signals_.norm == 0) signals_.norm = usual_norm(s_);
}

ErrorProof ClassProof::proof(const std::vector<BlockNetwork>& networks, ThreadPool& pool) const {
    const double B = signals_.norm, noise = signals_.noise;
    const bool all = signals_.size > 0;
    std::vector<Support> supports = supports_;
    if (all && !quick_) supports = enumerated_supports(networks, s_);
    const bool follow = !supports.empty() && can_follow(networks, supports.size(), s_);
    if (!follow) supports.clear();
    // Following supports is never worse than norms; for all of a size norms are cheap beside it.
    if (follow && !all) return {networks, nullptr, supports, B, noise, kFloat32, pool};
    const SpectralTerms terms =
        all ? terms_of_all_supports(networks, s_) : spectral_terms(networks, supports_, pool);
    BoundInputs in = bound_inputs(networks, terms, s_, B, noise);
    in.rounding = kFloat32;
    return {networks, &in, supports, B, noise, kFloat32, pool};
}

ErrorBound ClassProof::bound(const std::vector<BlockNetwork>& networks, ThreadPool& pool) const {
    ErrorProof steps = proof(networks, pool);
    return bound_of(steps, networks.front());
}

ErrorBound ClassProof::settle(std::vector<BlockNetwork>& networks, Thresholds thresholds,
                              ThreadPool& pool) const {
    ErrorProof steps = proof(networks, pool);
    ErrorBound bound;
    for (std::size_t k = 0; k < networks.front().spec.layers; ++k) {
        Shrink shrink = networks.front().shrink(k);
        const double needed = steps.needed(), now = dead_zone(shrink);
        const bool enough = thresholds == Thresholds::raised &&
                            keeps_at_zero(networks.front().spec.activation, now, needed);
        if (!enough) {
            const double theta = stored(needed * (1 + kMargin));
            for (double& t : shrink.thresholds) t = stored(now > 0 ? t * (theta / now) : theta);
            shrink.theta = theta;
            for (BlockNetwork& network : networks) {
                network.theta[k] = theta;
                if (!network.shrinks.empty()) network.shrinks[k] = shrink;
            }
        }
        bound.theta_needed.push_back(needed);
        bound.error.push_back(steps.advance(shrink));
    }
    return bound;
}

}  // namespace pibinn
