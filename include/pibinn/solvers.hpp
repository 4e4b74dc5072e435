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
    ista,   ///< lasso.hpp
    fista,  ///< lasso.hpp
    omp,    ///< omp.hpp
    linear  ///< linear.hpp
};

std::string_view to_string(SolverKind kind);
SolverKind parse_solver_kind(std::string_view name);

/// How much work a batch took. An iteration of OMP is one chosen column, counted over all the
/// blocks of a signal.
struct SolveInfo {
    std::size_t signals = 0;
    std::size_t converged = 0;  ///< signals whose tolerance was met before a limit
    std::size_t max_iterations = 0;
    double mean_iterations = 0;

    static SolveInfo of(std::span<const std::uint32_t> iterations, std::size_t converged);
};

struct Solution {
    Batch x;  ///< N x n
    SolveInfo info;
};

}  // namespace pibinn
