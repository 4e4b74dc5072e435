#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "pibinn/certificate.hpp"
#include "pibinn/random.hpp"
#include "spectral/spectral_norm.hpp"
#include "spectral/support_recursion.hpp"
#include "theory/block_data.hpp"

namespace pibinn::testing {

/// The first layer where a measured number is over its bound; rounding of float64 is allowed for.
inline std::optional<std::string> exceeds(std::span<const double> measured,
                                          std::span<const double> bound) {
    for (std::size_t k = 0; k < measured.size(); ++k)
        if (!(measured[k] <= bound[k] * (1 + 1e-9) + 1e-12))
            return fmt::format("layer {}: measured {} over bound {}", k + 1, measured[k], bound[k]);
    return {};
}

/// A network that the theory is about: many more measurements than entries, so that the columns of
/// the operator are nearly orthogonal and W^T A is near a multiple of the identity.
struct Case {
    std::uint64_t seed = 1;
    Activation activation = Activation::soft;
    WeightKind weights = WeightKind::one_bit;
    double delta = 1;
    double gain = 1;  ///< about W_i^T A_i
    std::size_t m = 300, n = 12, s = 2, layers = 6;
    Update update = Update::plain();
};

inline Model model_of_case(const Case& c) {
    Model model;
    model.spec.layers = c.layers;
    model.spec.activation = c.activation;
    model.spec.weights = c.weights;
    model.spec.update = c.update;
    model.spec.delta = c.delta;
    model.op = Operator::random(Structure::dense(c.m, c.n), OperatorEnsemble::gaussian, c.seed);
    Stream stream(c.seed, Purpose::tests, 1);
    const auto rows = static_cast<double>(c.m);
    for (std::size_t k = 0; k < c.layers; ++k) {
        AlignedBuffer<float> w(model.op.values().begin(), model.op.values().end());
        for (float& v : w) {
            if (c.weights == WeightKind::one_bit)  // E|a| = sqrt(2 / (pi m))
                v = std::copysign(static_cast<float>(c.gain / std::sqrt(2 * rows / 3.14159265)), v);
            else
                v = static_cast<float>(c.gain * (v + 0.1 * stream.normal() / std::sqrt(rows)));
        }
        model.weights.push_back(std::move(w));
        model.theta.push_back(0.0F);
        if (c.update.momentum) model.beta.push_back(static_cast<float>(0.4 * stream.uniform()));
        if (c.update.onsager) model.omega.push_back(static_cast<float>(0.5 * stream.uniform()));
    }
    return model;
}

/// Signals on one random support: random ones, and those that the first layer likes least.
inline CertificateInput input_of_case(const Case& c, const Model& model, std::size_t count = 40) {
    Stream stream(c.seed, Purpose::tests, 2);
    Support support;
    const auto order = stream.permutation(c.n);
    support.entries.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(c.s));
    std::sort(support.entries.begin(), support.entries.end());
    CertificateInput input;
    input.signals = signals_on_support(model, support.entries, count, 1e9, c.seed);
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(
        step_on_support(block_networks(model).front(), 0, support), Eigen::ComputeThinV);
    for (std::size_t j = 0; j < c.s; ++j)
        for (std::size_t i = 0; i < c.s; ++i)
            input.signals(j, support.entries[i]) = static_cast<float>(
                3 * svd.matrixV()(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) +
                1e-9);
    return input;
}

/// The signals of an input by blocks, for models without a basis.
inline BlockData split_signals(const Model& model, const std::vector<BlockNetwork>& networks,
                               const CertificateInput& input) {
    CertifiedSignals signals;
    signals.x = input.signals;
    signals.y = input.measurements;
    return pibinn::split_signals(model, networks, signals);
}

/// Raises the thresholds, layer by layer, to what keeps the support.
inline void keep_support(Model& model, const CertificateInput& input,
                         const CertificateOptions& options, ThreadPool& pool) {
    for (std::size_t k = 0; k < model.spec.layers; ++k)
        model.theta[k] = static_cast<float>(
            certify(model, input, options, pool).bound.theta_needed[k] * (1 + 1e-6) + 1e-9);
}

inline std::vector<double> errors_of(const Certificate& c) {
    std::vector<double> errors;
    for (const MeasuredLayer& layer : c.measured) errors.push_back(layer.error);
    return errors;
}

/// Largest distance, layer by layer, of the rows of two runs.
inline std::vector<double> distances(const std::vector<Rows>& a, const std::vector<Rows>& b) {
    std::vector<double> out;
    for (std::size_t k = 0; k < a.size(); ++k)
        out.push_back((a[k] - b[k]).rowwise().norm().maxCoeff());
    return out;
}

/// The columns of a support.
inline Eigen::MatrixXd columns(const Eigen::MatrixXd& a, const Support& support) {
    Eigen::MatrixXd out(a.rows(), static_cast<Eigen::Index>(support.entries.size()));
    for (std::size_t j = 0; j < support.entries.size(); ++j)
        out.col(static_cast<Eigen::Index>(j)) = a.col(support.entries[j]);
    return out;
}

/// A random matrix whose columns, taken together, have norm `size`.
inline Eigen::MatrixXd random_matrix(std::size_t rows, std::size_t cols, double size,
                                     Stream& stream) {
    Eigen::MatrixXd out(rows, cols);
    for (Eigen::Index i = 0; i < out.size(); ++i) out.data()[i] = stream.normal();
    return out * (size / spectral_norm(out));
}

/// Cases of every kind, none like another.
inline std::vector<Case> some_cases(Update update = Update::plain()) {
    std::vector<Case> cases;
    std::uint64_t seed = 1;
    for (const Activation activation : {Activation::soft, Activation::hard})
        for (const WeightKind weights : {WeightKind::one_bit, WeightKind::real})
            for (const double delta : {1.0, 0.9, 0.7})
                for (const double gain : {1.0, 0.6}) {
                    Case c;
                    c.seed = seed++;
                    c.activation = activation;
                    c.weights = weights;
                    c.delta = delta;
                    c.gain = gain;
                    c.s = 1 + seed % 2;
                    c.update = update;
                    cases.push_back(c);
                }
    return cases;
}

}  // namespace pibinn::testing
