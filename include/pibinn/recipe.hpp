// room: train
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pibinn/network_spec.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/signal_class.hpp"

namespace pibinn {

enum class Schedule {
    constant,
    step,   ///< times 0.9 every 10 epochs: the paper's
    cosine  ///< half a cosine from the rate down to 1 % of it
};

/// How a stage treats the model's weight kind.
enum class Projection {
    none,  ///< latent weights are used as they are: float
    lazy,  ///< forward with quantised weights, gradient straight through to the latent ones
    l1     ///< forward with latent weights, then a step of each towards its nearer level +-lambda_0
};

enum class Augment {
    none,
    signs,   ///< a random sign for every entry
    roll,    ///< signs, and a random cyclic shift of the whole signal
    noise,   ///< the same signals, measured with fresh noise and artefacts
    shift,   ///< the same, and each signal shifted cyclically in time, whatever its basis
    flip,    ///< as noise, and each signal turned around in time, or each patch mirrored, by chance
    mix,     ///< as flip, and by chance cos(t) x + sin(t) x' with another signal x', of x's energy
    negate,  ///< (x, y) or (-x, -y), which needs no new measurement; odd networks learn nothing of
             ///< it
    fresh    ///< new signals from the prior of a drawn problem, never the same twice
};

enum class LossKind {
    squared,
    norm,
    nmse,    ///< each signal's error relative to its energy
    energy,  ///< the errors of a batch relative to its energy
    log,     ///< the logarithm of that
    /// The logarithm of the sum of the norms of a batch's errors, each to the power of 1.4: signals
    /// with little noise count more than by their squares, of which those with the most noise have
    /// nearly all.
    log_norm
};

/// Which solver's first iterations a training starts from.
enum class Start {
    ista,  ///< W_k = A / ||A||^2 and the recipe's thresholds
    amp    ///< W_k = A / ||column||^2, thresholds by the residual, an Onsager term
};

std::string_view to_string(Schedule schedule);
std::string_view to_string(Projection projection);
std::string_view to_string(Augment augment);
std::string_view to_string(LossKind loss);
std::string_view to_string(Start start);
Schedule parse_schedule(std::string_view name);
Projection parse_projection(std::string_view name);
Augment parse_augment(std::string_view name);
LossKind parse_loss(std::string_view name);
Start parse_start(std::string_view name);

/// One part of a training: what is trained, for how long, with which schedule.
struct Stage {
    std::string name = "stage";
    std::size_t epochs = 100;
    double learning_rate = 1e-3;
    Schedule schedule = Schedule::constant;
    bool trains_weights = true;
    bool trains_theta = true;  ///< thresholds, and with them gain, step, beta and omega
    bool trains_scale = false;
    Projection projection = Projection::none;
    /// The global scale at the start of the stage; 0 keeps what it is. Only for `one-bit`.
    double scale = 0;
    /// Largest norm of a layer's weight gradient; 0 does not clip.
    double clip = 0;
    /// `l1`: the prox weight beta grows linearly from 0 to this over the stage.
    double l1_weight = 1;
    /// Adam's averaging of the weights' gradient. Straight-through signs flip by noise at any rate;
    /// a longer average makes them flip by signal.
    double momentum = 0.9;
    /// The stage ends with a running mean of its latent weights, each step counting 1 - average; 0
    /// ends with the weights of the last step. Signs that flip back and forth then settle where
    /// they were most of the time.
    double average = 0;
    std::size_t batch = 0;  ///< of this stage; 0 is the recipe's
    /// The scale, and the rate of the weights, are those of 50 measurements of unit columns and are
    /// still to be fitted to the operator at hand. Numbers that someone states are not.
    bool fit_scale = false;
    bool fit_rate = false;
    /// The scale was fitted, and may be lowered until the network that it starts with does not
    /// diverge.
    bool lower_scale = false;
    /// The rate of theta, gain, step, beta, omega and scale relative to that of the weights.
    double scalar_rate = 1;
    double scalar_clip = 0;  ///< largest norm of the gradient of all these together; 0: any
    std::size_t warmup = 0;  ///< steps over which rates climb from 0
    /// Keeps the theory's alpha (certificate.hpp) on the training supports at most this, by a
    /// penalty on the weights and a projection of their scale after every epoch; 0 does not.
    double alpha = 0;
    double alpha_weight = 1;  ///< of the penalty, against the loss
    /// Starts from weights made for the class of Recipe::guarantee, and keeps the error on all its
    /// signals proven: after every epoch thresholds are raised to what the proof needs, and what
    /// lowers neither the error nor the bound is taken back.
    bool guarantee = false;

    bool operator==(const Stage&) const = default;
};

/// A named list of stages with what they share.
struct Recipe {
    std::string name;
    std::vector<Stage> stages;
    LossKind loss = LossKind::squared;
    Augment augment = Augment::none;
    std::size_t batch = 250;  ///< 0: train() takes `usual_batch`
    Start start = Start::ista;
    double theta = 0.1;  ///< thresholds at the start
    /// Of hard thresholds, whose jump has no gradient: backward takes it for a ramp over |z| from
    /// (1 - ramp) tau to (1 + ramp) tau, so that thresholds learn. Training starts with soft
    /// thresholds then, without a ramp, and goes over to hard ones little by little. 0 keeps them
    /// where they start.
    double ramp = 0;
    /// Share of the training rows, its last ones, that are kept out of training; each stage then
    /// ends with the parameters of the epoch that recovered these best. 0 trains on all rows.
    double validation = 0;
    /// Ends with polish (NetworkSpec::polish) where the training signals gain 1 dB by it.
    bool choose_polish = false;
    /// Of stages with `guarantee`. Without supports and size it is that of a problem with a fixed
    /// support, otherwise all supports of the largest size that can be proven; without noise, that
    /// of the problem.
    SignalClass guarantee = {};

    /// Throws a usage error for orders and numbers that make no sense for this network.
    void validate(const NetworkSpec& spec) const;
    std::size_t epochs() const;
    bool operator==(const Recipe&) const = default;
};

/// "paper" (as published), "default" (the best we know) or "guaranteed" (errors are proven), for a
/// network of this kind and depth, on the paper's problem. `recipe_for` fits it to another problem.
Recipe named_recipe(std::string_view name, const NetworkSpec& spec);

/// The network that a recipe trains: "paper" and "guaranteed" are always of the plain update.
NetworkSpec network_for(std::string_view recipe, NetworkSpec spec);
/// What of a network was asked for and stays as it is.
struct OwnChoices {
    bool groups = false;
    bool centre = false;
};

/// The network with what follows from the signals: complex groups for complex signals, groups of
/// rows where a row holds several vectors, and the grid of patches for neighbours. Residuals are
/// centred where the columns of the operator have a mean in common and there is an Onsager term,
/// which takes them to have none.
NetworkSpec fit_network(const Problem& problem, NetworkSpec spec, OwnChoices own = {});
/// Rings of neighbours that were found to be enough: of `wiener` three in one dimension and two on
/// a grid, otherwise one.
std::size_t usual_neighbours(Activation activation, bool on_grid);

/// The named recipe with the augmentation and the starting scale that fit a problem, as the program
/// chooses them. The batch is left to train().
Recipe recipe_for(const ProblemTraits& traits, const NetworkSpec& spec,
                  std::string_view name = "default");
Recipe recipe_for(const Problem& problem, const NetworkSpec& spec,
                  std::string_view name = "default");

/// Refuses an augmentation that would not make signals of the problem's kind, or that has no
/// effect.
void require_augment(Augment augment, const ProblemTraits& traits);

}  // namespace pibinn
