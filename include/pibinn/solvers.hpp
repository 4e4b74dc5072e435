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

/// How strong the noise of measurements is, in both ways in which it may be the same for all
/// signals; 0 where it is not known or no more than rounding.
struct NoiseLevel {
    double deviation = 0;  ///< of a single measurement, the same for faint and strong signals
    double share = 0;      ///< of the norm of each signal's measurements: a ratio in dB
};

/// The noise y - A x of training pairs, wherever it came from: its root mean square, and that of
/// its norms over the norms of y.
NoiseLevel noise_level(const Operator& op, const DataSet& pairs, ThreadPool& pool);

struct Solution {
    Batch x;  ///< N x n
    SolveInfo info;
};

}  // namespace pibinn
