#pragma once

#include "cli/config_document.hpp"
#include "pibinn/recipe.hpp"

namespace pibinn::cli {

/// The section [train] of a configuration.
struct TrainConfig {
    Recipe recipe;
    std::size_t seeds = 1;
};

/// Recipe, seeds and stages for a network. `[[train.stage]]` lists the stages anew, each starting
/// from the recipe's stage of the same name; `train.stage.NAME.KEY` changes one number of one
/// stage. The recipe `paper` is always of the plain update, whatever the network was by default.
TrainConfig read_train_config(const ConfigDocument& document, NetworkSpec& spec);

}  // namespace pibinn::cli
