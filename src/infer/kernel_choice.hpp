#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/kernels/kernels.hpp"

namespace pibinn {

/// Which kernel solves the rows of a block. All of them give the same bits; the choice is a matter
/// of speed.
enum class KernelStrategy { automatic, vector, tile };

/// An instruction set and, if asked for, one of its kernels.
struct KernelChoice {
    std::string name;  ///< KERNEL/INSTRUCTION SET, or the instruction set alone
    KernelStrategy strategy = KernelStrategy::automatic;
    KernelSet set;

    /// What to solve a block's next rows with, and how many of the `left` ones at once.
    struct Step {
        RecoverKernel kernel;
        std::size_t rows;
    };
    Step step(const PackedBlock& block, std::size_t left) const;
    /// Rows that a block's kernel takes at a time, given enough of them.
    std::size_t rows_at_a_time(const PackedBlock& block) const;
    std::size_t workspace_floats(const PackedBlock& block) const;

    /// Whether it can solve activations that shrink several rows together, which tiles cannot.
    bool takes_groups_of_rows() const {
        return strategy != KernelStrategy::tile && set.vector != nullptr;
    }

private:
    /// Null where tiles solve the block.
    RecoverKernel vector_of(const PackedBlock& block) const;
    /// Too small for the vector kernel, where there are rows enough for a tile.
    bool tiny(const PackedBlock& block) const;
};

/// The best instruction set first, each before its kernels.
std::vector<std::string> kernel_choices();
/// Throws a usage error for names that this machine does not have.
KernelChoice choose_kernel(std::string_view name);

}  // namespace pibinn
