#include "pibinn/model.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algebra/complex_links.hpp"
#include "algebra/ring_sum.hpp"
#include "model/link_codes.hpp"
#include "model/model_parameters.hpp"
#include "model/network.hpp"
#include "pibinn/error.hpp"
#include "problem/common_mean.hpp"

namespace pibinn {

namespace {

// Of networks whose cut no training has chosen.
constexpr float kUsualCut = 0.01F;

/// One soft threshold, whatever the pieces.
void start_soft(const NetworkSpec& spec, double theta, ParameterStore& p) {
    std::fill(p.theta().begin(), p.theta().end(), static_cast<float>(theta));
    for (std::size_t i = 0; i < p.gain().size(); ++i)
        p.gain()[i] = i % spec.pieces == 0 ? 1.0F : 0.0F;
}

/// What neighbours count at first. The energy that `wiener` expects is half its prior, half what is
/// seen around.
void start_local(const NetworkSpec& spec, std::span<float> local) {
    const std::size_t each = spec.local_per_layer();
    if (each == 0) return;
    const Neighbourhood near{.rings = spec.neighbours, .grid = spec.grid};
    float around = 1;
    for (std::size_t r = 1; r <= spec.neighbours; ++r)
        around += static_cast<float>(ring_size(near, r));
    const bool wiener = spec.activation == Activation::wiener;
    for (std::size_t i = 0; i < local.size(); ++i)
        local[i] = !wiener ? 0.1F : i % each == 0 ? 0.5F : 0.5F / around;
}

}  // namespace

double Model::scale() const {
    if (!rules_of(spec.weights).has_global_scale() || weights.empty() || weights[0].empty())
        return 0;
    return std::abs(weights[0][0]);
}

std::size_t Model::links() const {
    if (spec.tied()) return spec.layers * op.structure().shared_links();
    std::size_t sum = 0;
    for (const auto& layer : weights) sum += layer.size();
    const bool shared = spec.architecture == Architecture::unrolled && op.structure().is_complex();
    return shared ? sum / 2 : sum;
}

std::span<const float> Model::layer_links(std::size_t k) const {
    if (spec.tied()) return op.values();
    return weights[k - 1];
}

void require_fitting(const Model& model) {
    const std::string hint =
        "take a model from train, untrained_model or Model::load, and change its numbers only";
    const auto require = [&](std::size_t found, std::size_t expected, const std::string& what) {
        if (found != expected)
            fail_usage(
                fmt::format("{} has {} numbers, but its network needs {}", what, found, expected),
                hint);
    };
    model.spec.validate();
    const Structure& s = model.op.structure();
    if (s.rows() == 0 || s.cols() == 0)
        fail_usage(fmt::format("Model::op is {} x {}", s.rows(), s.cols()), hint);
    if (model.spec.centre) require_centre(model.op);
    const std::size_t stored = model.spec.tied() ? 0 : model.spec.layers;
    if (model.weights.size() != stored)
        fail_usage(fmt::format("Model::weights has {} layers, but its network needs {}",
                               model.weights.size(), stored),
                   hint);
    const ParameterLayout layout(model.spec, s);
    for (std::size_t k = 1; k <= stored; ++k) {
        const AlignedBuffer<float>& layer = model.weights[k - 1];
        require(layer.size(), layout.structure(k).links(),
                fmt::format("Model::weights[{}]", k - 1));
        if (const auto link = unpaired_link(layout.structure(k), std::span(layer)))
            fail_usage(fmt::format("link {} of Model::weights[{}] and its twin are not [[a, -b], "
                                   "[b, a]], as those of a complex operator are",
                                   *link, k - 1),
                       hint);
    }
    require(model.theta.size(), layout.theta().size, "Model::theta");
    require(model.gain.size(), layout.gain().size, "Model::gain");
    require(model.step.size(), layout.step().size, "Model::step");
    require(model.cut.size(), layout.cut().size, "Model::cut");
    require(model.local.size(), layout.local().size, "Model::local");
    require(model.prior.size(), layout.prior().size, "Model::prior");
    require(model.beta.size(), layout.beta().size, "Model::beta");
    require(model.omega.size(), layout.omega().size, "Model::omega");
    if (!model.domain.fits(s.rows(), s.cols()))
        fail_usage(fmt::format("Model::domain says {} {} vector(s) per row, which {} measurements "
                               "and {} entries do not hold",
                               model.domain.vectors,
                               model.domain.measurement_rows().complex ? "complex" : "real",
                               s.rows(), s.cols()),
                   hint);
    if (!model.domain.fits_basis(s.cols()))
        fail_usage(fmt::format("Model::domain.basis is of signals of {} entries, but the network "
                               "has {}",
                               model.domain.basis.length(), s.cols()),
                   hint);
}

ParameterStore parameters_of(const Model& model) {
    require_fitting(model);
    ParameterStore p(std::make_shared<const ParameterLayout>(model.spec, model.op.structure()));
    for (std::size_t k = 1; k <= model.weights.size(); ++k)
        std::copy(model.weights[k - 1].begin(), model.weights[k - 1].end(), p.weights(k).begin());
    const auto put = [](const std::vector<float>& from, std::span<float> to) {
        std::copy(from.begin(), from.end(), to.begin());
    };
    put(model.theta, p.theta());
    put(model.gain, p.gain());
    put(model.step, p.step());
    put(model.beta, p.beta());
    put(model.omega, p.omega());
    put(model.local, p.local());
    put(model.prior, p.prior());
    put(model.cut, p.cut());
    for (float& scale : p.scale()) scale = static_cast<float>(model.scale());
    return p;
}

Model model_of(const NetworkSpec& spec, const Operator& op, const ParameterStore& p) {
    Model model;
    model.spec = spec;
    model.op = op;
    for (std::size_t k = 1; k <= spec.layers && !spec.tied(); ++k)
        model.weights.emplace_back(p.weights(k).begin(), p.weights(k).end());
    // Twins are equal but for the rounding of their scales.
    for (std::size_t k = 1; k <= model.weights.size(); ++k)
        complete_complex(p.layout().structure(k), std::span(model.weights[k - 1]));
    model.theta.assign(p.theta().begin(), p.theta().end());
    model.gain.assign(p.gain().begin(), p.gain().end());
    model.step.assign(p.step().begin(), p.step().end());
    model.beta.assign(p.beta().begin(), p.beta().end());
    model.omega.assign(p.omega().begin(), p.omega().end());
    model.local.assign(p.local().begin(), p.local().end());
    model.prior.assign(p.prior().begin(), p.prior().end());
    model.cut.assign(p.cut().begin(), p.cut().end());
    return model;
}

Model untrained_model(const NetworkSpec& spec, const Operator& op, double theta) {
    spec.validate();
    if (spec.centre) require_centre(op);
    ParameterStore latent(std::make_shared<const ParameterLayout>(spec, op.structure()));
    // A tied network takes its step where others have it in their weights.
    const auto step =
        static_cast<float>(1.0 / (spec.centre ? centred_squared_norm(op) : op.squared_norm()));
    const std::vector<float> links = starting_links(op, spec.centre);
    double magnitude = 0;
    for (float a : links) magnitude += std::abs(a) * step;
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        auto w = latent.weights(k);
        // A fully connected layer after the first has no operator to start from: the identity.
        const std::size_t n = op.cols();
        for (std::size_t l = 0; l < w.size(); ++l)
            w[l] = spec.architecture == Architecture::unrolled || k == 1
                       ? (w.size() == links.size() ? step * links[l] : 0.0F)
                       : (l / n == l % n ? 1.0F : 0.0F);
    }
    start_soft(spec, theta, latent);
    start_local(spec, latent.local());
    std::fill(latent.cut().begin(), latent.cut().end(), kUsualCut);
    std::fill(latent.step().begin(), latent.step().end(), spec.tied() ? step : 1.0F);
    for (float& scale : latent.scale())
        scale = static_cast<float>(magnitude / static_cast<double>(links.size()));
    ParameterStore effective(latent.shared_layout());
    make_effective(spec.weights, latent, effective, *make_cpu_backend());
    return model_of(spec, op, effective);
}

Batch recover_coefficients(const Model& model, ConstBatchView y, ThreadPool& pool,
                           std::vector<Batch>* every_layer) {
    const auto backend = make_cpu_backend();
    const auto network = make_network(model.spec, model.op, *backend, PassUse::recovery);
    return network->recover_coefficients(parameters_of(model), y, pool, every_layer);
}

BitCount count_bits(const Model& model) { return count_bits(model.spec, model.op); }

BitCount count_bits(const NetworkSpec& spec, const Operator& op) {
    const ParameterLayout layout(spec, op.structure());
    BitCount bits;
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        bits.weights += bits_per_link(spec.weights) * layout.structure(k).shared_links();
        bits.scales += 32 * stored_scales(spec.weights, layout.structure(k));
    }
    if (rules_of(spec.weights).has_global_scale()) bits.scales += 32;
    bits.thresholds =
        32 * (layout.theta().size + layout.gain().size + layout.local().size + layout.prior().size);
    bits.scales += 32 * (layout.step().size + layout.cut().size);
    bits.momentum = 32 * spec.layers * (std::size_t{spec.update.momentum} + spec.update.onsager);
    if (spec.architecture == Architecture::unrolled) bits.op = operator_bits(op);
    bits.paper = bits.weights + bits.thresholds;
    bits.total = bits.paper + bits.momentum + bits.scales + bits.op;
    return bits;
}

LinkShare link_share(const NetworkSpec& spec, const Structure& structure) {
    const ParameterLayout layout(spec, structure);
    LinkShare share;
    for (std::size_t k = 1; k <= spec.layers; ++k) {
        const Structure& s = layout.structure(k);
        share.links += s.shared_links();
        share.dense_weights += s.rows() * s.cols();
    }
    share.bits_per_dense_weight = static_cast<double>(bits_per_link(spec.weights) * share.links) /
                                  static_cast<double>(share.dense_weights);
    return share;
}

}  // namespace pibinn
