#pragma once

#include <cstdint>

#include "model/layer_owners.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/recipe.hpp"

namespace pibinn {

/// Weights in proportion to those of an operator with 50 measurements per unit column, where the
/// recipes were found: one bit per link passes on lambda times the sum of a column's magnitudes. In
/// steps of a quarter octave, so that operators drawn alike start alike.
double operator_fit(const Operator& op);
/// Fits what a recipe leaves to be fitted; its numbers then are those that are used.
void fit_recipe(const Operator& op, Recipe& recipe);

/// The rate of a stage at an epoch (counted from 0).
double rate_at(const Stage& stage, std::size_t epoch);

/// Adam on the latent parameters, with its moments and their running mean: everything a training
/// has to remember. Where ranks share a training, each steps the weights of the layers that it
/// owns, and all step the scalars.
class Optimiser {
public:
    /// The backend must outlive it.
    Optimiser(std::shared_ptr<const ParameterLayout> layout, Backend& backend)
        : Optimiser(layout, backend, LayerOwners(layout)) {}
    Optimiser(std::shared_ptr<const ParameterLayout> layout, Backend& backend, LayerOwners owners);

    /// A new stage starts with fresh moments.
    void restart();
    /// All ranks: one step along the gradient; that of the scale follows from the weights',
    /// straight through their signs. Clips each layer, keeps thresholds at or above zero, moves the
    /// scale by its logarithm so that it stays positive.
    void step(const Stage& stage, double rate, DeviceParameters& gradient,
              DeviceParameters& latent);

    /// All ranks: the end of a stage that averages. The latent weights become their running mean.
    void settle(const Stage& stage, DeviceParameters& latent) const;
    /// All ranks: moments and means of all layers come to the first rank.
    void gather();

    DeviceParameters& first() { return first_; }
    DeviceParameters& second() { return second_; }
    DeviceParameters& mean() { return mean_; }
    const DeviceParameters& first() const { return first_; }
    const DeviceParameters& second() const { return second_; }
    const DeviceParameters& mean() const { return mean_; }
    std::uint64_t steps() const { return steps_; }
    void set_steps(std::uint64_t steps) { steps_ = steps; }

private:
    /// That of the scale, straight through the signs of all weights.
    void find_scale_gradient(const DeviceParameters& latent, DeviceParameters& gradient) const;
    void step_weights(const Stage& stage, const AdamStep& adam, DeviceParameters& gradient,
                      DeviceParameters& latent);

    Backend& backend_;
    LayerOwners owners_;
    DeviceParameters first_;
    DeviceParameters second_;
    DeviceParameters mean_;  ///< of the latent weights; its scalars are not used
    std::uint64_t steps_ = 0;
};

}  // namespace pibinn
