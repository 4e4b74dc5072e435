#pragma once

#include <string>

#include "pibinn/problem.hpp"
#include "pibinn/thread_pool.hpp"
#include "study/config.hpp"

namespace pibinn::study {

/// The problem of a folder of pictures: random patches, sensed in a basis.
Problem load_images(const Config& config, ThreadPool& pool);

/// The problem of recorded segments, contaminated by artefacts.
Problem load_signals(const Config& config, ThreadPool& pool);

/// The basis that a configuration names, for signals of n entries.
Basis load_basis(const RealConfig& real, std::size_t n);

/// "20 dB" or "10 to 40 dB".
std::string decibels(const SnrRange& range);

/// What a person should know of how a problem came about, all of it on one line, long lists cut
/// short; empty when all went well.
std::string short_notes(const Problem& problem);
/// The share of links that a mask has.
double link_density(const Structure& structure);

}  // namespace pibinn::study
