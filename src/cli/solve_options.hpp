#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "pibinn/solvers.hpp"

namespace pibinn::cli {

/// The command line of `pibinn solve`.
struct SolveOptions {
    std::string solver, operator_file, in, out;
    std::string structure = "dense";
    std::size_t repeat = 1;
    std::size_t vectors = 1;  ///< of a row, which share their support
    std::optional<double> lambda, relative, tolerance, noise_std, alpha, density, variance;
    std::optional<std::size_t> iterations, sparsity, paths, width;
    std::string train_signals, signals;
    bool complex = false;       ///< columns of text are pairs
    bool real_signals = false;  ///< behind an operator that is complex

    void add_to(CommandLine& line);
    /// Refuses options that the chosen solver would ignore.
    void require_fitting(CommandLine& line, SolverKind kind) const;
    double noise() const { return noise_std.value_or(0); }
};

}  // namespace pibinn::cli
