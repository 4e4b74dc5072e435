#include "pibinn/suggest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "pibinn/error.hpp"
#include "theory/part_data.hpp"

namespace pibinn {

namespace {

using Eigen::MatrixXd;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGolden = 0.6180339887498949;

/// alpha as a function of delta and scale. Of thousands of supports a handful decide: the search
/// looks at these, and what it finds is checked on all of them.
class AlphaOf {
public:
    AlphaOf(const std::vector<PartNetwork>& networks, const PartData& data, ThreadPool& pool)
        : networks_(networks), data_(data), pool_(pool), spec_(networks.front().spec) {
        for (std::size_t k = 0; k < spec_.layers; ++k) {
            double mu = 0;
            for (const PartNetwork& network : networks) {
                grams_.push_back(network.W[k].transpose() * network.A);
                MatrixXd off = grams_.back();
                off.diagonal().setZero();
                mu = std::max(mu, off.cwiseAbs().maxCoeff());
            }
            extra_.push_back(spec_.activation == Activation::hard
                                 ? 0.0
                                 : mu * static_cast<double>(data.largest));
        }
        active_.resize(spec_.layers);
    }

    double operator()(double delta, double scale) const {
        double most = 0;
        for (std::size_t k = 0; k < spec_.layers; ++k)
            for (const MatrixXd& g : active_[k])
                most = std::max(most, norm(g, delta, scale) + scale * extra_[k]);
        return most;
    }

    /// Looks at all supports. True when those in use told the truth; else they are more now.
    bool holds_at(double delta, double scale) {
        const double claimed = (*this)(delta, scale);
        std::vector<std::vector<double>> norms(spec_.layers);
        for (auto& layer : norms) layer.resize(data_.supports.size());
        pool_.run(data_.supports.size(), [&](std::size_t i) {
            for (std::size_t k = 0; k < spec_.layers; ++k)
                norms[k][i] = norm(gram(k, i), delta, scale);
        });
        bool holds = true;
        for (std::size_t k = 0; k < spec_.layers; ++k) {
            const auto worst = std::max_element(norms[k].begin(), norms[k].end());
            if (*worst + scale * extra_[k] <= claimed * (1 + 1e-9)) continue;
            holds = false;
            active_[k].push_back(gram(k, static_cast<std::size_t>(worst - norms[k].begin())));
        }
        return holds;
    }

private:
    static double norm(const MatrixXd& g, double delta, double scale) {
        MatrixXd step = -scale * g;
        step.diagonal().array() += delta;
        return spectral_norm(step);
    }
    MatrixXd gram(std::size_t k, std::size_t i) const {
        const Support& support = data_.supports[i];
        const MatrixXd& whole = grams_[k * networks_.size() + support.block];
        return whole(support.entries, support.entries);
    }

    const std::vector<PartNetwork>& networks_;
    const PartData& data_;
    ThreadPool& pool_;
    const NetworkSpec& spec_;
    std::vector<MatrixXd> grams_;                ///< W^T A: layer by layer, block by block
    std::vector<double> extra_;                  ///< mu_k s for `soft`, at scale 1
    std::vector<std::vector<MatrixXd>> active_;  ///< a layer: those of the supports in use
};

/// Where a convex function is least, by golden section.
double argmin(const std::function<double(double)>& f, double low, double high) {
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double fa = f(a), fb = f(b);
    while (high - low > 1e-7 * std::max(1e-3, std::abs(high))) {
        if (fa <= fb) {
            high = b;
            b = a, fb = fa;
            a = high - kGolden * (high - low), fa = f(a);
        } else {
            low = a;
            a = b, fa = fb;
            b = low + kGolden * (high - low), fb = f(b);
        }
    }
    return fa <= fb ? a : b;
}

/// Between a point inside and one outside {f < 1}, the border, on the inner side.
double border(const std::function<double(double)>& f, double inside, double outside) {
    while (std::abs(outside - inside) > 1e-7 * std::max(1e-3, std::abs(inside))) {
        const double middle = 0.5 * (inside + outside);
        (f(middle) < 1 ? inside : outside) = middle;
    }
    return inside;
}

Interval below_one(const std::function<double(double)>& f, double low, double high) {
    const double least = argmin(f, low, high);
    if (!(f(least) < 1)) return {};
    Interval found{f(low) < 1 ? low : border(f, least, low),
                   f(high) < 1 ? high : border(f, least, high)};
    // A border at zero is met only as nearly as the bisection goes.
    if (found.low < 1e-5 * found.high) found.low = 0;
    return found;
}

class Search {
public:
    Search(AlphaOf& alpha, const NetworkSpec& spec, double B) : alpha_(alpha), spec_(spec), B_(B) {}

    SetPoint at(double delta, double scale) const {
        SetPoint point{delta, scale, alpha_(delta, scale), kInfinity};
        if (point.alpha < 1)
            point.cvg = (std::pow(point.alpha, static_cast<double>(spec_.layers)) +
                         std::abs(1 - delta) / (1 - point.alpha)) *
                        B_;
        return point;
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
            return at(delta, argmin([&](double scale) { return alpha_(delta, scale); }, 0,
                                    largest_scale()));
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

Suggestion suggest(const Model& model, const CertificateInput& input,
                   const CertificateOptions& options, ThreadPool& pool) {
    if (options.operator_radius > 0 || options.weight_radius > 0 || options.threshold_radius > 0)
        fail_usage("suggestions are for the model as it is, not for all within a radius",
                   "leave out the radii, or --suggest");
    const std::vector<PartNetwork> networks = part_networks(model);
    const PartData data = split_signals(model, networks, input);
    AlphaOf alpha(networks, data, pool);
    const Search search(alpha, model.spec, options.B > 0 ? options.B : data.norm);
    alpha.holds_at(model.spec.delta, 1);
    Suggestion out;
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

}  // namespace pibinn
