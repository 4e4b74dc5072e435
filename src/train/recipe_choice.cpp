#include <algorithm>

#include <fmt/format.h>

#include "pibinn/error.hpp"
#include "pibinn/recipe.hpp"
#include "problem/common_mean.hpp"

namespace pibinn {

namespace {

// Fewer rows than this are too few to keep some of them back.
constexpr std::size_t kRowsToValidate = 20;
constexpr double kValidation = 0.1;

/// What a problem allows of the augmentation that a recipe has by default. Where nobody knows which
/// changes keep the nature of a signal, only noise is drawn anew.
Augment allowed_augment(Augment augment, const ProblemTraits& traits) {
    if (augment == Augment::none || !traits.measurable) return Augment::none;
    if (augment == Augment::fresh) {
        if (traits.drawn) return augment;
        augment = Augment::roll;
    }
    switch (traits.invariance) {
        case Invariance::shifts:
            return augment;
        case Invariance::signs:
            return augment == Augment::roll ? Augment::signs : augment;
        case Invariance::places:
            return augment == Augment::roll ? Augment::shift : Augment::none;
        case Invariance::none:
            break;
    }
    return traits.disturbed ? Augment::noise : Augment::none;
}

/// Coefficients of real signals are not sparse, so that no threshold holds back a step that is
/// longer than the operator allows: training starts with the scale of the untrained weights,
/// whatever the recipe found best for sparse signals. 8 x 8 patches at 25 % diverge in the first
/// epoch otherwise, at 50 and 75 % their energy nmse ends 0.3 and 0.1 dB higher.
void fit_scale_to(const ProblemTraits& traits, Recipe& recipe) {
    if (traits.sparse) return;
    for (Stage& stage : recipe.stages)
        if (stage.fit_scale) stage.scale = 0;
}

/// With noise the error stops falling early, and larger steps do no harm ("Tried with noise" in
/// docs/results.md).
void fit_length_to(const ProblemTraits& traits, const NetworkSpec& spec, Recipe& recipe) {
    constexpr std::size_t enough = 240;
    if (!traits.disturbed || !spec.tied()) return;
    for (Stage& stage : recipe.stages) {
        stage.epochs = std::min(stage.epochs, enough);
        stage.learning_rate = 1e-2;
    }
}

/// Of errors between 10 and 40 dB of noise, those at 10 dB are nearly the whole sum of squares.
/// Lower powers gain at 40 dB and lose at 10 dB ("Tried with noise" in docs/results.md).
void fit_loss_to(const ProblemTraits& traits, Recipe& recipe) {
    if (traits.noise_varies && recipe.loss == LossKind::log) recipe.loss = LossKind::log_norm;
}

}  // namespace

NetworkSpec network_for(std::string_view recipe, NetworkSpec spec) {
    if (recipe == "paper" || recipe == "guaranteed") {
        spec.update = Update::plain();
        spec.update.step = spec.tied();
    }
    return spec;
}

NetworkSpec fit_network(const Problem& problem, NetworkSpec spec, OwnChoices own) {
    const SignalDomain& domain = problem.domain;
    if (spec.architecture == Architecture::fcn) return spec;
    if (!own.groups && spec.groups == Groups::none) {
        if (domain.vectors > 1)
            spec.groups = Groups::rows;
        else if (domain.complex)
            spec.groups = Groups::complex;
    }
    if (spec.neighbours > 0) spec.grid = domain.patch;
    if (!own.centre && spec.update.onsager && has_common_mean(problem.op)) spec.centre = true;
    return spec;
}

std::size_t usual_neighbours(Activation activation, bool on_grid) {
    if (activation != Activation::wiener) return 1;
    return on_grid ? 2 : 3;
}

Recipe recipe_for(const ProblemTraits& traits, const NetworkSpec& spec, std::string_view name) {
    Recipe recipe = named_recipe(name, spec);
    recipe.augment = allowed_augment(recipe.augment, traits);
    recipe.batch = 0;
    fit_scale_to(traits, recipe);
    if (name == "default") {
        fit_length_to(traits, spec, recipe);
        fit_loss_to(traits, recipe);
    }
    return recipe;
}

Recipe recipe_for(const Problem& problem, const NetworkSpec& spec, std::string_view name) {
    Recipe recipe = recipe_for(problem.traits(), spec, name);
    // Nobody knows how many of a user's signals are enough: the epochs are chosen by some of them.
    if (problem.own_signals && name != "paper" && problem.all_train_rows() >= kRowsToValidate)
        recipe.validation = kValidation;
    return recipe;
}

void require_augment(Augment augment, const ProblemTraits& traits) {
    if (augment == Augment::none || augment == Augment::negate) return;
    if (augment == Augment::fresh && !traits.drawn)
        fail_usage("augment 'fresh' draws new signals, and nobody knows how these were drawn",
                   "use augment \"roll\", \"noise\" or \"none\", or leave it to the recipe");
    if (!traits.measurable)
        fail_usage(fmt::format("augment '{}' would measure signals anew, and the measurements that "
                               "are given are not close to A x",
                               to_string(augment)),
                   "use augment \"negate\" or \"none\", or leave the measurements out");
    if (augment == Augment::noise && !traits.disturbed)
        fail_usage("the problem has neither noise nor artefacts to draw anew",
                   "use augment \"none\", or give the problem noise: Problem::noise_std");
    const bool keeps_rows = augment == Augment::fresh || augment == Augment::noise;
    if (traits.complex && !keeps_rows)
        fail_usage(fmt::format("augment '{}' would tear real from imaginary parts, or vectors of "
                               "one row apart",
                               to_string(augment)),
                   "use augment \"fresh\", \"noise\", \"negate\" or \"none\", or leave it to "
                   "the recipe");
    if (augment == Augment::shift && traits.patches)
        fail_usage("a patch shifted around its edges is no patch of a picture",
                   "use augment \"flip\", \"noise\" or \"none\"");
    const bool changes_coefficients = augment == Augment::roll || augment == Augment::signs;
    if (changes_coefficients && traits.basis != "identity")
        fail_usage(fmt::format("shifts and signs of coefficients make no signals: the basis is {}",
                               traits.basis),
                   traits.disturbed ? "use augment \"noise\" or \"none\"" : "use augment \"none\"");
}

}  // namespace pibinn
