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

/// Operator and domain of a configuration; signals only where these follow from them.
Problem make_frame(const Config& config, ThreadPool& pool);

/// Operator, training and test set of a configuration.
Problem make_problem(const Config& config, ThreadPool& pool);

}  // namespace pibinn::cli
