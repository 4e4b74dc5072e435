// room: problem
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// A structure that holds every non-zero entry of a matrix.
struct StructureFit {
    Structure structure;
    bool reordered = false;  ///< only with rows and columns in the order of the finding
};

/// What can be read off the zeros of a matrix.
struct StructureFinding {
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t nonzeros = 0;
    /// Every structure that holds, `dense` first. One that needs the order below comes only where
    /// it shows more blocks than the given order does.
    std::vector<StructureFit> fits;
    /// The order that puts connected rows and columns together: row i of the reordered matrix is
    /// row rows[i] of the given one. The given order where that shows as many blocks.
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> cols;

    double density() const;
};

/// Looks for blocks on the diagonal (as given, and as the connected components of rows and columns
/// that share a non-zero entry), for blocks that repeat, and for the pattern of non-zeros. Blocks
/// repeat when they are equal entry by entry: rows and columns within a block stay in the order
/// they have in the matrix, so that A (x) I is found as well as I (x) A, and a block whose own rows
/// were shuffled is not. Linear in the entries. A row or column of zeros is an error that names it.
StructureFinding find_structure(MatrixView<const float> a);

/// Entries of a magnitude below the threshold become zero.
void clear_below(MatrixView<float> a, float threshold);

/// The entries of these rows and columns, in this order.
Matrix<float> reordered(MatrixView<const float> a, std::span<const std::uint32_t> rows,
                        std::span<const std::uint32_t> cols);

}  // namespace pibinn
