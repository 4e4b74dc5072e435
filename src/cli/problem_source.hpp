#pragma once

#include "cli/config.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/signals.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::cli {

/// The operator of a configuration alone.
Operator make_operator(const Config& config, ThreadPool& pool);

/// Operator, training and test set of a configuration.
Problem make_problem(const Config& config, ThreadPool& pool);

}  // namespace pibinn::cli
