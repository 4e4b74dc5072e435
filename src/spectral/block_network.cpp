#include "spectral/block_network.hpp"

#include <fmt/format.h>

#include "algebra/activate.hpp"
#include "pibinn/error.hpp"
#include "spectral/alpha.hpp"

namespace pibinn {

namespace {

/// The links of one block as a matrix.
Eigen::MatrixXd block_matrix(const Structure& s, const Block& b, std::span<const float> links) {
    Eigen::MatrixXd out =
        Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(b.rows), static_cast<Eigen::Index>(b.cols));
    if (s.kind() == StructureKind::mask) {
        s.for_each_link([&](std::size_t i, std::size_t j, std::size_t l) {
            out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = links[l];
        });
        return out;
    }
    // Links stand column by column, as Eigen's matrices do.
    for (std::size_t l = 0; l < b.rows * b.cols; ++l) out.data()[l] = links[b.first_link + l];
    return out;
}

void require_certifiable(const NetworkSpec& spec) {
    if (spec.architecture != Architecture::unrolled)
        fail_usage("a fully connected network has no operator that a theory could rest on",
                   "certify an unrolled model");
    if (!rules_of(spec.activation).has_threshold())
        fail_usage(fmt::format("activation '{}' has no threshold: no support is ever kept",
                               to_string(spec.activation)),
                   "certify a model with activation 'soft' or 'hard'");
    if (!spec.entrywise())
        fail_usage("the theory has no bounds for activations that look at groups or neighbours",
                   "certify a model with groups \"none\" and without neighbours, or by held-out "
                   "signals: calibrate");
    if (spec.centre)
        fail_usage(
            "the theory has no bounds for centred residuals",
            "certify a model without NetworkSpec::centre, or by held-out signals: calibrate");
    if (!is_certifiable(spec))
        fail_usage(fmt::format("the theory has no bounds for activation '{}' with thresholds that "
                               "follow the residual or with an Onsager term",
                               to_string(spec.activation)),
                   "certify a model with activation 'soft' or 'hard', or with the plain update");
}

/// The learned shrinks of all layers; empty for other activations.
std::vector<Shrink> shrinks_of(const Model& model) {
    std::vector<Shrink> shrinks;
    if (!model.spec.has_gains()) return shrinks;
    const std::size_t pieces = model.spec.thresholds_per_layer();
    for (std::size_t k = 0; k < model.spec.layers; ++k) {
        const auto begin = static_cast<std::ptrdiff_t>(k * pieces);
        const auto end = begin + static_cast<std::ptrdiff_t>(pieces);
        shrinks.push_back({0,
                           {model.theta.begin() + begin, model.theta.begin() + end},
                           {model.gain.begin() + begin, model.gain.begin() + end}});
        shrinks.back().theta = dead_zone(shrinks.back());
    }
    return shrinks;
}

std::vector<double> one_per_layer(const std::vector<float>& values, std::size_t layers) {
    std::vector<double> out(values.begin(), values.end());
    out.resize(layers, 0.0);
    return out;
}

}  // namespace

std::vector<BlockNetwork> block_networks(const Model& model) {
    require_certifiable(model.spec);
    const Structure& s = model.op.structure();
    std::vector<BlockNetwork> parts;
    for (const Block& block : s.parts()) {
        BlockNetwork part;
        part.block = block;
        part.spec = model.spec;
        part.A = block_matrix(s, block, model.op.values());
        for (std::size_t k = 1; k <= model.spec.layers; ++k)
            part.W.push_back(double{model.step_of(k)} *
                             block_matrix(s, block, model.layer_links(k)));
        part.shrinks = shrinks_of(model);
        part.theta = one_per_layer(model.theta, model.spec.layers);
        for (std::size_t k = 0; k < part.shrinks.size(); ++k) part.theta[k] = part.shrinks[k].theta;
        part.beta = one_per_layer(model.beta, model.spec.layers);
        part.omega = one_per_layer(model.omega, model.spec.layers);
        parts.push_back(std::move(part));
    }
    return parts;
}

std::vector<Rows> run_layers(const BlockNetwork& network, const Rows& y) {
    const Update& update = network.spec.update;
    const auto n = static_cast<Eigen::Index>(network.n());
    const auto m = static_cast<double>(network.m());
    std::vector<Rows> layers;
    Rows before = Rows::Zero(y.rows(), n);
    Rows x = before;
    Rows r = Rows::Zero(y.rows(), y.cols());
    for (std::size_t k = 0; k < network.W.size(); ++k) {
        const Rows v = x + network.beta[k] * (x - before);
        Rows residual = v * network.A.transpose() - y;
        if (update.onsager)
            for (Eigen::Index i = 0; i < r.rows(); ++i) {
                const auto count = static_cast<double>((x.row(i).array() != 0).count());
                residual.row(i) += network.omega[k] * count / m * r.row(i);
            }
        r = residual;
        Rows z = network.spec.delta * v - r * network.W[k];
        for (Eigen::Index i = 0; i < z.rows(); ++i) {
            const double unit = update.residual_threshold ? r.row(i).cwiseAbs().sum() / m : 1.0;
            ActivationNumbers<double> numbers{network.theta[k] * unit, 0};
            if (!network.shrinks.empty()) {
                const Shrink& shrink = network.shrinks[k];
                numbers.pieces = shrink.thresholds.size();
                numbers.thresholds = shrink.thresholds.data();
                numbers.gains = shrink.gains.data();
            }
            for (Eigen::Index j = 0; j < n; ++j)
                z(i, j) = activate(network.spec.activation, z(i, j), numbers);
        }
        before = x;
        x = z;
        layers.push_back(std::move(z));
    }
    return layers;
}

}  // namespace pibinn
