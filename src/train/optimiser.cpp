#include "train/optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

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
        if (stage.fit_scale) stage.scale *= fit;
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

Optimiser::Optimiser(std::shared_ptr<const ParameterLayout> layout)
    : first_(layout), second_(layout), mean_(layout) {}

void Optimiser::restart() {
    std::fill(first_.values().begin(), first_.values().end(), 0.0F);
    std::fill(second_.values().begin(), second_.values().end(), 0.0F);
    std::fill(mean_.values().begin(), mean_.values().end(), 0.0F);
    steps_ = 0;
}

void Optimiser::step(const Stage& stage, double rate, const ParameterStore& gradient,
                     ParameterStore& latent, Backend& backend) {
    AdamStep adam;
    adam.step = ++steps_;
    adam.rate = static_cast<float>(rate);
    adam.beta1 = static_cast<float>(stage.momentum);
    if (stage.trains_weights)
        for (std::size_t k = 1; k <= latent.layout().layers(); ++k) {
            const double norm = std::sqrt(backend.squared_norm(gradient.weights(k)));
            adam.gradient_factor =
                stage.clip > 0 && norm > stage.clip ? static_cast<float>(stage.clip / norm) : 1.0F;
            backend.adam(adam, latent.weights(k), gradient.weights(k), first_.weights(k),
                         second_.weights(k));
            if (stage.average > 0) {
                // The first step starts the mean, so that it is one from the beginning.
                const double share = steps_ == 1 ? 1 : 1 - stage.average;
                backend.average(static_cast<float>(share), latent.weights(k), mean_.weights(k));
            }
        }
    adam.gradient_factor = 1;
    adam.beta1 = 0.9F;
    adam.rate = static_cast<float>(rate * stage.scalar_rate);
    if (stage.trains_theta) {
        backend.adam(adam, latent.theta(), gradient.theta(), first_.theta(), second_.theta());
        backend.adam(adam, latent.beta(), gradient.beta(), first_.beta(), second_.beta());
        backend.adam(adam, latent.omega(), gradient.omega(), first_.omega(), second_.omega());
        for (float& theta : latent.theta()) theta = std::max(theta, 0.0F);
    }
    if (stage.trains_scale) {
        // d loss / d log(lambda) = lambda d loss / d lambda
        float logarithm = std::log(latent.scale()[0]);
        adam.gradient_factor = latent.scale()[0];
        backend.adam(adam, {&logarithm, 1}, gradient.scale(), first_.scale(), second_.scale());
        latent.scale()[0] = std::exp(logarithm);
    }
}

void Optimiser::settle(const Stage& stage, ParameterStore& latent) const {
    if (stage.average == 0 || !stage.trains_weights) return;
    for (std::size_t k = 1; k <= latent.layout().layers(); ++k) {
        const auto mean = mean_.weights(k);
        std::copy(mean.begin(), mean.end(), latent.weights(k).begin());
    }
}

void move_towards_levels(float level, float strength, std::span<float> weights) {
    for (float& w : weights) {
        const float target = w < 0 ? -level : level;
        const float gap = target - w;
        w += std::clamp(gap, -strength, strength);
    }
}

}  // namespace pibinn
