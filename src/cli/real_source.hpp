#pragma once

#include <string>

#include "cli/config.hpp"
#include "pibinn/signals.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::cli {

/// The problem of a folder of pictures: random patches, sensed in a basis.
Problem load_images(const Config& config, ThreadPool& pool);

/// The problem of recorded segments, contaminated by artefacts.
Problem load_signals(const Config& config, ThreadPool& pool);

/// The basis that a configuration names, for signals of n entries.
Basis load_basis(const RealConfig& real, std::size_t n);

/// What a person should know of how a problem came about, a line each; empty when all went well.
std::string notes_text(const Problem& problem);

}  // namespace pibinn::cli
