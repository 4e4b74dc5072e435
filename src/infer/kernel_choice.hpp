#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "infer/kernels/kernels.hpp"

namespace pibinn {

/// How the rows of a part are solved, which is a matter of speed; but for 16 bits, which round.
enum class Way { automatic, vector, vector16, tile };

/// An instruction set and, if asked for, one of its ways.
struct KernelChoice {
    std::string name;  ///< WAY/INSTRUCTION SET, or the instruction set alone
    Way way = Way::automatic;
    KernelSet set;

    const SignLayout& layout() const {
        return way == Way::vector16 ? set.short_layout : set.layout;
    }
    /// What to solve a part's next rows with, and how many of the `left` ones at once.
    struct Step {
        RecoverKernel kernel;
        std::size_t rows;
    };
    Step step(const PackedPart& part, std::size_t left) const;
    /// Rows that a part's kernel takes at a time, given enough of them.
    std::size_t turn(const PackedPart& part) const;
    std::size_t workspace_floats(const PackedPart& part) const;

private:
    /// The kernel of one row at a time; null where tiles solve the part.
    RecoverKernel vector_of(const PackedPart& part) const;
    /// Too small for vectors, where there are rows enough for a tile.
    bool tiny(const PackedPart& part) const;
};

std::vector<std::string> kernel_choices();
/// Throws a usage error for names that this machine has not.
KernelChoice choose_kernel(std::string_view name);

}  // namespace pibinn
