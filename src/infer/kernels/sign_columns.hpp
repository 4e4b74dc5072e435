#pragma once

#include <cstddef>
#include <cstdint>

#include "infer/packed_block.hpp"

namespace pibinn {

/// Columns of A whose signed sums share a table.
constexpr std::size_t kGroupColumns = 5;
/// Columns whose tables are made at a time: 4 KiB of them.
constexpr std::size_t kTabledColumns = 32 * kGroupColumns;

/// Working memory for A x by signs.
struct SignColumnSpace {
    float* sums;             ///< rows, up to whole blocks of 64
    float* tables;           ///< 32 numbers for every five columns
    std::uint32_t* offsets;  ///< of a column in PackedBlock::row_signs
    std::uint32_t* columns;  ///< the support

    SignColumnSpace() = default;
    /// In the memory from `at` on, sign_column_floats() of it.
    SignColumnSpace(const PackedBlock& block, float* at);
};

/// None where A is held in floats.
std::size_t sign_column_floats(const PackedBlock& block);

}  // namespace pibinn
