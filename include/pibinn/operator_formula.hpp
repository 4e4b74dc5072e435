// room: problem
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pibinn {

// One line per formula; everything that is particular to one stands in src/problem/formulas/.
#define PIBINN_FORMULAS(X) \
    X(hadamard)            \
    X(dct)                 \
    X(fourier)             \
    X(dft)                 \
    X(convolution)

#define PIBINN_ENUMERATOR(name) name,
enum class FormulaKind { PIBINN_FORMULAS(PIBINN_ENUMERATOR) };
#undef PIBINN_ENUMERATOR

std::string_view to_string(FormulaKind kind);
FormulaKind parse_formula_kind(std::string_view name);

/// What an m x n block follows from. A transform (hadamard, dct, fourier, and dft of n/2 complex
/// numbers) gives some of its rows, cut to n columns; a convolution is constant along its
/// diagonals.
struct BlockFormula {
    /// Rows of the transform, one per measurement, ascending.
    std::vector<std::uint32_t> rows = {};
    std::vector<bool> flipped = {};  ///< the columns that change their sign; empty where none does
    /// Of rows of norm 1 (dct, fourier, dft) or of entries +-1 (hadamard).
    float scale = 1;
    /// A(i, j) = taps[i - j - first], and 0 where there is no such tap.
    std::vector<float> taps = {};
    std::ptrdiff_t first = 0;

    bool operator==(const BlockFormula&) const = default;
};

/// An operator that follows from fewer numbers than it has entries, so that a model file stores
/// these. One formula per part of its structure.
struct OperatorFormula {
    FormulaKind kind = FormulaKind::convolution;
    std::vector<BlockFormula> parts = {};

    bool operator==(const OperatorFormula&) const = default;
};

/// Rows of the whole transform of n entries: n, or the next power of two for hadamard; 0 for a
/// convolution, which is none.
std::size_t transform_rows(FormulaKind kind, std::size_t n);

}  // namespace pibinn
