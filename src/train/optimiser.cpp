#include "train/optimiser.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

namespace pibinn {

double operator_fit(const Operator& op) {
    double sum = 0;
    for (const float v : op.values()) sum += std::abs(double{v});
    const double columns = static_cast<double>(op.cols() / op.structure().repeat());
    // 50 entries N(0, 1/50): the mean of a column's sum.
    const double usual = std::sqrt(2 * 50 / std::numbers::pi);
    return std::exp2(std::round(4 * std::log2(usual * columns / sum)) / 4);
}

void fit_recipe(const Operator& op, Recipe& recipe) {
    const double fit = operator_fit(op);
    for (Stage& stage : recipe.stages) {
        if (stage.fit_scale) {
            stage.scale *= fit;
            stage.lower_scale = stage.scale > 0;
        }
        if (stage.fit_rate) {
            stage.learning_rate *= fit;
            stage.scalar_rate /= fit;
        }
        stage.fit_scale = stage.fit_rate = false;
    }
}

double rate_at(const Stage& stage, std::size_t epoch) {
    switch (stage.schedule) {
        case Schedule::constant:
            return stage.learning_rate;
        case Schedule::step:
            return stage.learning_rate * std::pow(0.9, static_cast<double>(epoch / 10));
        case Schedule::cosine: {
            const double t = static_cast<double>(epoch) / static_cast<double>(stage.epochs);
            return stage.learning_rate * (0.01 + 0.99 * 0.5 * (1 + std::cos(std::numbers::pi * t)));
        }
    }
    return stage.learning_rate;
}

Optimiser::Optimiser(std::shared_ptr<const ParameterLayout> layout, Backend& backend,
                     LayerOwners owners)
    : backend_(backend),
      owners_(std::move(owners)),
      first_(layout, backend),
      second_(layout, backend),
      mean_(layout, backend) {}

void Optimiser::restart() {
    for (DeviceParameters* numbers : {&first_, &second_, &mean_}) backend_.fill(0, numbers->all());
    steps_ = 0;
}

void Optimiser::step(const Stage& stage, double rate, DeviceParameters& gradient,
                     DeviceParameters& latent) {
    AdamStep adam;
    adam.step = ++steps_;
    if (steps_ < stage.warmup)
        rate *= static_cast<double>(steps_) / static_cast<double>(stage.warmup);
    adam.rate = static_cast<float>(rate);
    adam.beta1 = static_cast<float>(stage.momentum);
    adam.clip = stage.clip;
    step_weights(stage, adam, gradient, latent);
    adam.clip = 0;
    adam.beta1 = 0.9F;
    adam.rate = static_cast<float>(rate * stage.scalar_rate);
    if (stage.scalar_clip > 0) {
        const double norm = std::sqrt(backend_.squared_norm(gradient.scalars()));
        if (norm > stage.scalar_clip)
            backend_.multiply(static_cast<float>(stage.scalar_clip / norm), gradient.scalars());
    }
    if (stage.trains_theta) {
        const auto move = [&](BufferView (DeviceParameters::*part)()) {
            backend_.adam(
                adam, {(latent.*part)(), (gradient.*part)(), (first_.*part)(), (second_.*part)()});
        };
        move(&DeviceParameters::theta);
        move(&DeviceParameters::gain);
        move(&DeviceParameters::step);
        move(&DeviceParameters::beta);
        move(&DeviceParameters::omega);
        move(&DeviceParameters::local);
        move(&DeviceParameters::prior);
        backend_.keep_at_least(0, latent.theta());
        backend_.keep_at_least(0, latent.local());
    }
    if (stage.trains_scale)
        backend_.adam_of_logarithm(
            adam, {latent.scale(), gradient.scale(), first_.scale(), second_.scale()});
}

void Optimiser::find_scale_gradient(const DeviceParameters& latent,
                                    DeviceParameters& gradient) const {
    const std::size_t layers = latent.layout().layers();
    if (!owners_.several()) {
        std::vector<ConstBufferView> gradients, latents;
        for (std::size_t k = 1; k <= layers; ++k) {
            gradients.push_back(std::as_const(gradient).weights(k));
            latents.push_back(latent.weights(k));
        }
        backend_.scale_gradient(gradients, latents, gradient.scale());
        return;
    }
    std::vector<double> terms(layers, 0.0);
    for (const std::size_t k : owners_.own())
        terms[k - 1] =
            backend_.scale_gradient_of(std::as_const(gradient).weights(k), latent.weights(k));
    owners_.share(terms);
    // In the order of the layers, as one process adds them up.
    backend_.fill(static_cast<float>(std::accumulate(terms.begin(), terms.end(), 0.0)),
                  gradient.scale());
}

void Optimiser::step_weights(const Stage& stage, const AdamStep& adam, DeviceParameters& gradient,
                             DeviceParameters& latent) {
    BufferView scale = stage.trains_scale ? gradient.scale() : BufferView{};
    if (!scale.empty() && (owners_.several() || !stage.trains_weights)) {
        find_scale_gradient(latent, gradient);
        scale = {};
    }
    if (!stage.trains_weights) return;
    std::vector<AdamNumbers> numbers;
    for (const std::size_t k : owners_.own())
        numbers.push_back(
            {latent.weights(k), gradient.weights(k), first_.weights(k), second_.weights(k)});
    backend_.adam_of_weights(adam, numbers, scale);
    if (stage.average == 0) return;
    // The first step starts the mean, so that it is one from the beginning.
    const double share = steps_ == 1 ? 1 : 1 - stage.average;
    for (const std::size_t k : owners_.own())
        backend_.average(static_cast<float>(share), latent.weights(k), mean_.weights(k));
}

void Optimiser::settle(const Stage& stage, DeviceParameters& latent) const {
    if (stage.average == 0 || !stage.trains_weights) return;
    for (const std::size_t k : owners_.own()) backend_.copy(mean_.weights(k), latent.weights(k));
    owners_.share(latent, backend_);
}

void Optimiser::gather() {
    for (DeviceParameters* numbers : {&first_, &second_, &mean_})
        owners_.gather(*numbers, backend_);
}

}  // namespace pibinn
