// room: problem
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "pibinn/complex_rows.hpp"
#include "pibinn/matrix.hpp"

namespace pibinn {

/// One entry of a sparse matrix.
struct SparseEntry {
    std::uint32_t row = 0;
    std::uint32_t col = 0;
    double value = 0;
    double imaginary = 0;
};

/// The non-zero entries of a matrix, column by column: those of column j have the numbers
/// offsets[j] .. offsets[j + 1] - 1, in the order of their rows.
struct SparseMatrix {
    std::size_t rows = 0;
    std::size_t cols = 0;
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> row_indices;
    std::vector<double> values;
    std::vector<double> imaginary;  ///< of complex entries; empty of real ones

    Numbers numbers = Numbers::real;

    bool complex() const { return numbers == Numbers::complex; }

    /// Entries in any order. Those of one place are added up, and zeros are left out. An entry
    /// beyond the shape or float32, and a shape far larger than its entries, are input errors that
    /// name `where`.
    static SparseMatrix from_entries(std::size_t rows, std::size_t cols,
                                     std::vector<SparseEntry> entries, std::string_view where,
                                     Numbers numbers = Numbers::real);

    /// The whole matrix as T, float or double, zeros included; of a complex one real and imaginary
    /// parts in turn. Over 2^28 numbers are an input error.
    template <class T = float>
    Matrix<T> to_dense(std::string_view where) const;
};

}  // namespace pibinn
