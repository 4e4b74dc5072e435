#pragma once

#include "cli/config.hpp"
#include "cli/config_document.hpp"
#include "pibinn/recipe.hpp"

namespace pibinn::cli {

/// The section [train] of a configuration.
struct TrainConfig {
    Recipe recipe;
    bool own_batch = false;  ///< the batch was asked for; else it is fitted to the problem
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

}  // namespace pibinn::cli
