#pragma once

#include <cstddef>
#include <string>

#include "cli/config.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/signals.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn::cli {

/// The operator of a file under a structure: `repeated` takes the file as the block, `blocks` as
/// the whole matrix with `repeat` equal blocks on its diagonal, `mask` takes its non-zero entries.
Operator load_operator(const std::string& file, StructureKind structure, std::size_t repeat);

/// The matrix that load_operator reads back: one repetition of the operator, zeros included.
Matrix<float> operator_matrix(const Operator& op);

/// The operator of a configuration alone.
Operator make_operator(const Config& config, ThreadPool& pool);

/// The operator as the network of a configuration sees it: `physics` itself, or the same matrix
/// with every entry a link. Refuses a network that cannot be trained in this machine's memory.
Operator network_operator(const Config& config, const Operator& physics);
/// The same refusal, before anything is made.
void require_memory(const Config& config, const Structure& physics);

/// Operator, training and test set of a configuration.
Problem make_problem(const Config& config, ThreadPool& pool);

}  // namespace pibinn::cli
