#include "pibinn/suggest.hpp"

#include <algorithm>
#include <functional>

#include "core/infinity.hpp"
#include "pibinn/error.hpp"
#include "spectral/alpha.hpp"
#include "spectral/coherence.hpp"
#include "spectral/convex_min.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/step_matrix.hpp"
#include "theory/block_data.hpp"

namespace pibinn {

namespace {

using Eigen::MatrixXd;

// Of every border and minimum, relative.
constexpr double kTolerance = 1e-7;

/// alpha as a function of delta and scale. Of thousands of supports a handful decide: the search
/// looks at these, and what it finds is checked on all of them.
class AlphaOf {
public:
    AlphaOf(const std::vector<BlockNetwork>& networks, const BlockData& data, ThreadPool& pool)
        : networks_(networks), data_(data), pool_(pool), spec_(networks.front().spec) {
        const WeightSet set = weight_set(spec_.activation);
        active_.resize(spec_.layers);
        for (std::size_t k = 0; k < spec_.layers; ++k) {
            double mu = 0;
            for (const BlockNetwork& network : networks) {
                grams_.push_back(network.W[k].transpose() * network.A);
                mu = std::max(mu, coherence(grams_.back()).mu);
            }
            active_[k].extra = coherence_term(set, mu, data.largest);
        }
    }

    double operator()(double delta, double scale) const { return alpha(active_, delta, scale); }

    /// Looks at all supports. True when those in use told the truth; otherwise more are used now.
    bool holds_at(double delta, double scale) {
        const double claimed = (*this)(delta, scale);
        std::vector<std::vector<double>> norms(spec_.layers);
        for (auto& layer : norms) layer.resize(data_.supports.size());
        pool_.run(data_.supports.size(), [&](std::size_t i) {
            for (std::size_t k = 0; k < spec_.layers; ++k)
                norms[k][i] = spectral_norm(step_matrix(gram(k, i), delta, scale));
        });
        bool holds = true;
        for (std::size_t k = 0; k < spec_.layers; ++k) {
            const auto worst = std::max_element(norms[k].begin(), norms[k].end());
            if (*worst + scale * active_[k].extra <= claimed * (1 + 1e-9)) continue;
            holds = false;
            active_[k].grams.push_back(gram(k, static_cast<std::size_t>(worst - norms[k].begin())));
        }
        return holds;
    }

private:
    MatrixXd gram(std::size_t k, std::size_t i) const {
        const Support& support = data_.supports[i];
        return submatrix(grams_[k * networks_.size() + support.block], support.entries);
    }

    const std::vector<BlockNetwork>& networks_;
    const BlockData& data_;
    ThreadPool& pool_;
    const NetworkSpec& spec_;
    std::vector<MatrixXd> grams_;     ///< W^T A: layer by layer, block by block
    std::vector<AlphaTerms> active_;  ///< one per layer, with the supports in use
};

/// Where a convex function is below 1.
Interval below_one(const std::function<double(double)>& f, double low, double high) {
    const auto below = [&](double x) { return f(x) < 1; };
    const double least = convex_min(f, low, high, kTolerance);
    if (!below(least)) return {};
    Interval found{below(low) ? low : last_inside(below, least, low, kTolerance),
                   below(high) ? high : last_inside(below, least, high, kTolerance)};
    // A border at zero is met only as nearly as the bisection goes.
    if (found.low < 1e-5 * found.high) found.low = 0;
    return found;
}

class Search {
public:
    Search(AlphaOf& alpha, const NetworkSpec& spec, double B) : alpha_(alpha), spec_(spec), B_(B) {}

    SetPoint at(double delta, double scale) const {
        const double a = alpha_(delta, scale);
        return {delta, scale, a, cvg(a, delta, B_, spec_.layers)};
    }
    /// Where alpha is below a limit.
    Interval deltas(double limit) const {
        return below_one([&](double delta) { return alpha_(delta, 1) / limit; }, 0, 1);
    }
    Interval scales(double delta) const {
        return below_one([&](double scale) { return alpha_(delta, scale); }, 0, largest_scale());
    }
    /// For one delta the least alpha gives the least Cvg. Over delta a grid of kSteps is looked at
    /// and nothing between its points.
    std::optional<SetPoint> best() const {
        const auto least = [&](double delta) {
            return at(delta, convex_min([&](double scale) { return alpha_(delta, scale); }, 0,
                                        largest_scale(), kTolerance));
        };
        constexpr int kSteps = 40;
        SetPoint best = least(1);
        for (int i = 1; i < kSteps; ++i) {
            const SetPoint point = least(static_cast<double>(i) / kSteps);
            if (point.cvg < best.cvg) best = point;
        }
        // alpha over a few supports is at most that over all: what is not below B here is nowhere.
        if (!(best.cvg < B_)) return {};
        return best;
    }

private:
    /// Beyond it alpha only grows: the norm of scale G alone is over 1 + delta there.
    double largest_scale() const {
        double scale = 1;
        while (alpha_(0, scale) < 2.5 && scale < 1e12) scale *= 2;
        return scale;
    }

    AlphaOf& alpha_;
    NetworkSpec spec_;
    double B_;
};

}  // namespace

Suggestion suggest(const Model& model, const CertificateInput& asked,
                   const CertificateOptions& asked_options, ThreadPool& pool) {
    CertificateInput input = asked;
    CertificateOptions options = asked_options;
    take_class(model, input, options);
    if (options.operator_radius > 0 || options.weight_radius > 0 || options.threshold_radius > 0)
        fail_usage("suggestions are for the model as it is, not for all within a radius",
                   "leave out the radii, or the suggestion");
    const std::vector<BlockNetwork> networks = block_networks(model);
    const CertifiedSignals signals = certified_signals(model, input, options.B, pool);
    const BlockData data = split_signals(model, networks, signals);
    Suggestion out;
    out.B = signals.B > 0 ? signals.B : data.norm;
    out.scale = model.scale();
    out.sampled = signals.size > 0;
    AlphaOf alpha(networks, data, pool);
    const Search search(alpha, model.spec, out.B);
    alpha.holds_at(model.spec.delta, 1);
    for (bool settled = false; !settled;) {
        out.now = search.at(model.spec.delta, 1);
        out.delta_at_scale = search.deltas(1);
        out.scale_at_delta = search.scales(model.spec.delta);
        out.scale_at_one = search.scales(1);
        out.largest_delta =
            search.at(out.delta_at_scale.empty() ? model.spec.delta : out.delta_at_scale.high, 1);
        out.open = !out.delta_at_scale.empty() && out.delta_at_scale.high < 1;
        if (out.open) {
            out.largest_delta.alpha = 1;
            out.largest_delta.cvg = kInfinity;
        }
        const Interval safe = search.deltas(Suggestion::kMargin);
        out.margin_delta.reset();
        if (!safe.empty()) out.margin_delta = search.at(safe.high, 1);
        out.best = search.best();
        settled = true;
        for (const auto& [delta, scale] : {std::pair{out.now.delta, 1.0},
                                           {out.delta_at_scale.low, 1.0},
                                           {out.delta_at_scale.high, 1.0},
                                           {model.spec.delta, out.scale_at_delta.low},
                                           {model.spec.delta, out.scale_at_delta.high},
                                           {1.0, out.scale_at_one.low},
                                           {1.0, out.scale_at_one.high}})
            settled = alpha.holds_at(delta, scale) && settled;
        if (out.margin_delta) settled = alpha.holds_at(out.margin_delta->delta, 1) && settled;
        if (out.best) settled = alpha.holds_at(out.best->delta, out.best->scale) && settled;
    }
    return out;
}

Suggestion suggest(const Model& model, const CertificateInput& input,
                   const CertificateOptions& options) {
    ThreadPool pool;
    return suggest(model, input, options, pool);
}

}  // namespace pibinn
