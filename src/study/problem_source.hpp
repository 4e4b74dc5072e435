#pragma once

#include <string_view>

#include "pibinn/model.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/thread_pool.hpp"
#include "study/config.hpp"

namespace pibinn::study {

/// Operator and domain of a configuration; signals only where these follow from them.
Problem problem_without_signals(const Config& config, ThreadPool& pool);

/// The operator as the network of a configuration sees it: `physics` itself, or the same matrix
/// with every entry a link. Refuses a network that cannot be trained in this machine's memory.
Operator network_operator(const Config& config, const Operator& physics);
/// The same refusal, before anything is made, of a training on `device`.
void require_memory(const Config& config, const Structure& physics,
                    std::string_view device = "cpu");

/// The network of a configuration before any training, on a problem that need not have signals.
Model untrained_model(const Config& config, const Problem& problem, double theta);

/// Operator, training and test set of a configuration.
Problem make_problem(const Config& config, ThreadPool& pool);

}  // namespace pibinn::study
