// room: problem
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pibinn/problem.hpp"
#include "pibinn/sparse_prior.hpp"

namespace pibinn {

/// The synthetic problem of a seed. Operator, training and test sets come from separate streams.
struct SyntheticSpec {
    std::size_t m = 50;
    std::size_t n = 100;
    StructureKind structure = StructureKind::dense;
    std::size_t repeat = 100;  ///< of `repeated` and `blocks`; m x n is then one block
    /// {rows, cols} of each of the `blocks`; where given, m, n and repeat do not count.
    std::vector<std::pair<std::size_t, std::size_t>> blocks;
    double mask_density = 0.1;  ///< of `mask`: the share of links
    /// binary_sparse is a mask of its own: `dense` is taken for one, and mask_density does not
    /// count.
    OperatorEnsemble ensemble = OperatorEnsemble::gaussian;
    std::optional<std::size_t> ones_per_column;  ///< of binary_sparse; unless given, 8 or m
    SparsePrior prior;
    std::size_t train = 4000;
    std::size_t test = 1000;
    double noise_std = 0;
    std::optional<SnrRange> snr_db;  ///< of the measurements, instead of noise_std
    /// Of so many parts of the training set, the one to be drawn (Problem::train_begin).
    std::size_t part = 0, parts = 1;
};

Problem make_synthetic(const SyntheticSpec& spec, std::uint64_t seed, ThreadPool& pool);
/// The same on an operator that is already there.
Problem make_synthetic(const SyntheticSpec& spec, Operator op, std::uint64_t seed,
                       ThreadPool& pool);

}  // namespace pibinn
