#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "train/trainer.hpp"

namespace pibinn {

/// Network and recipe, word for word.
std::string recipe_identity(const NetworkSpec& spec, const Recipe& recipe);

/// What a training is, word for word: network, recipe, seed and data. Two trainings with the same
/// identity end in the same bytes.
std::string training_identity(const TrainJob& job);

/// Writes the state whole or not at all.
void save_checkpoint(const std::filesystem::path& path, const TrainState& state,
                     const std::string& identity);

/// Nothing when there is no such file; an error that says what differs when the checkpoint is of
/// another training, or damaged: a number that no training writes is named.
std::optional<TrainState> load_checkpoint(const std::filesystem::path& path,
                                          const std::string& identity,
                                          const ParameterLayout& layout, const Recipe& recipe);
/// The same of the content of such a file.
TrainState parse_checkpoint(const std::string& content, const std::string& name,
                            const std::string& identity, const ParameterLayout& layout,
                            const Recipe& recipe);

}  // namespace pibinn
