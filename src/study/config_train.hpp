#pragma once

#include "pibinn/recipe.hpp"
#include "study/config.hpp"

namespace pibinn::study {

/// The section [train] of a configuration.
struct TrainConfig {
    Recipe recipe;
    bool own_augment = false, own_validation = false;  ///< said, rather than left to the signals
    std::size_t seeds = 1;
    double checkpoint_seconds = 2;  ///< between two checkpoints; 0 keeps every epoch
};

/// Recipe, seeds and stages for a network. `[[train.stage]]` lists the stages anew, each starting
/// from the recipe's stage of the same name; `train.stage.NAME.KEY` changes one number of one
/// stage. The recipe `paper` is always of the plain update, whatever the network was by default. A
/// recipe's augment holds where the problem allows it; another one is only used when it is asked
/// for by name.
///
/// A document that several networks `share` may speak of stages and scales that only some of them
/// have; they are then passed over for the others.
TrainConfig read_train_config(const ConfigDocument& document, Config& config, bool share = false);

/// The recipe with the augmentation and validation that fit the signals, where nothing was said.
Recipe fitted_recipe(const TrainConfig& config, const NetworkSpec& spec, const Problem& problem);

/// Calls visit(section, key) for the keys of [train] and of a stage.
void visit_train_keys(const std::function<void(std::string_view, const ConfigKey&)>& visit);

}  // namespace pibinn::study
