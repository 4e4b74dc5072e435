#pragma once

#include "pibinn/communicator.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

/// All ranks: `own` of the first rank, which has all signals and keeps them, and on every other
/// rank what a training needs of it: the part of the training set that the rank looks after, and
/// all test signals, in the units of training. Not for signals that are drawn from a prior.
Problem deal_problem(Problem own, Communicator& ranks);

}  // namespace pibinn
