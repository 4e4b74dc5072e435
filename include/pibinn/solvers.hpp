// room: solvers
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// The references a user would pick instead of a network.
enum class SolverKind {
    ista,              ///< lasso.hpp
    fista,             ///< lasso.hpp
    omp,               ///< omp.hpp
    amp,               ///< amp.hpp, with soft thresholds
    bg_amp,            ///< amp.hpp, for Bernoulli-Gaussian signals
    linear,            ///< linear.hpp
    support_detection  ///< support_detection.hpp, of channels in beamspace
};

std::string_view to_string(SolverKind kind);
SolverKind parse_solver_kind(std::string_view name);

/// How much work a batch took. An iteration of OMP is one chosen column, or group of columns,
/// counted over all the blocks of a signal.
struct SolveInfo {
    std::size_t signals = 0;
    std::size_t converged = 0;  ///< signals whose tolerance was met before a limit
    std::size_t max_iterations = 0;
    double mean_iterations = 0;
    std::size_t damped = 0;  ///< signals for which AMP had to shorten its steps

    static SolveInfo of(std::span<const std::uint32_t> iterations, std::size_t converged);
};

class Operator;
class ThreadPool;
struct DataSet;

/// The deviation of the noise in training pairs, the root mean square of y - A x, wherever it came
/// from; 0 where it is no more than rounding.
double noise_deviation(const Operator& op, const DataSet& pairs, ThreadPool& pool);

struct Solution {
    Batch x;  ///< N x n
    SolveInfo info;
};

}  // namespace pibinn
