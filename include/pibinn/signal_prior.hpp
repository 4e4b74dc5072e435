// room: problem
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "pibinn/access_prior.hpp"
#include "pibinn/beamspace_prior.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/random.hpp"
#include "pibinn/sparse_prior.hpp"
#include "pibinn/spectrum_prior.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What signals are drawn from.
using SignalPrior = std::variant<SparsePrior, BeamspacePrior, AccessPrior, SpectrumPrior>;

/// Rows of n numbers. Row i is drawn from the stream (seed, purpose, first + i), whatever the
/// number of rows or threads.
Batch draw_signals(const SignalPrior& prior, std::size_t count, std::size_t n, std::uint64_t seed,
                   Purpose purpose, ThreadPool& pool, std::uint64_t first = 0);

}  // namespace pibinn
