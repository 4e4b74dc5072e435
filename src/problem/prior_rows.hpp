#pragma once

#include <cstddef>
#include <span>

#include "pibinn/random.hpp"
#include "pibinn/signal_prior.hpp"

namespace pibinn {

// What each prior does, in a file of its own.

/// Refuses a prior that cannot fill rows of n numbers.
void require_prior(const SparsePrior& prior, std::size_t n);
void require_prior(const BeamspacePrior& prior, std::size_t n);
void require_prior(const AccessPrior& prior, std::size_t n);
void require_prior(const SpectrumPrior& prior, std::size_t n);

/// Draws one row, which is zero before.
void draw_row(const SparsePrior& prior, Stream& stream, std::span<float> row);
void draw_row(const BeamspacePrior& prior, Stream& stream, std::span<float> row);
void draw_row(const AccessPrior& prior, Stream& stream, std::span<float> row);
void draw_row(const SpectrumPrior& prior, Stream& stream, std::span<float> row);

}  // namespace pibinn
