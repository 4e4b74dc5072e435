#pragma once

#include <cstddef>
#include <cstdint>

#include "pibinn/communicator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/recipe.hpp"
#include "problem/row_shares.hpp"

namespace pibinn {

/// The training set of one epoch. The operator is known, so any new target has an exact
/// measurement: y = A x, with fresh noise and artefacts where the problem has them. Row i of
/// epoch e is drawn from the stream (seed, augment, e * rows + i). Rows are mixed only with the
/// first `trained` ones: those after them are kept for validation. Several ranks each draw and
/// measure some of the rows. All get all of them, or, where the set is in parts, each keeps its
/// own.
void augment_epoch(Augment augment, const Problem& problem, std::size_t trained, std::uint64_t seed,
                   std::uint64_t epoch, DataSet& set, ThreadPool& pool,
                   Communicator& ranks = alone(), bool part = false);

/// Which rows each rank draws, measures and keeps.
RowShares row_shares(const Problem& problem, const Communicator& ranks);
/// Whether it changes each row by itself, so that the set may be in parts.
bool augments_rows(Augment augment);

}  // namespace pibinn
