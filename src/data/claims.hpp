#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "data/array_format.hpp"

namespace pibinn {

/// The rule for every file that is read: what it says of itself may cost at most so many bytes of
/// memory for each of its own bytes. docs/file-format.md says what is counted in which format.
namespace claim_factor {
inline constexpr double arrays = 1024;    ///< .npz, .mat: half of them inflated, half as numbers
inline constexpr double pictures = 4096;  ///< JPEG, PNG
inline constexpr double models = 256;     ///< what a model file holds, a bit as a float32
inline constexpr double rows = 4096;      ///< what recovering one row with a model takes
inline constexpr double work = 4096;      ///< its multiplications, of which 2^32 are free
}  // namespace claim_factor

/// What any file may take, however short it is.
inline constexpr double free_claim = 16 << 20;

/// What the operator of any model may take that follows from a formula. A model of one kilobyte may
/// have one honestly; sixteen million entries are far beyond those in use.
inline constexpr double formula_claim = 256 << 20;

/// The most bytes of memory that a file of this length may take.
double most_claimed(double factor, std::uint64_t file_bytes);

/// Refuses a claim over that, before memory is allocated for it. The error reads "WHAT would take M
/// of memory; ...".
void require_claim(double bytes, double factor, std::uint64_t file_bytes, const std::string& what,
                   const std::string& hint = "the file is damaged, or was made to take memory");

/// The same of what a formula makes.
void require_formula_claim(double bytes, std::uint64_t file_bytes, const std::string& what);

/// The same of a sparse matrix: of what is held for every column, and of the whole matrix.
void require_sparse_claim(std::size_t cols, std::uint64_t file_bytes, const std::string& where);
void require_full_claim(std::size_t rows, std::size_t cols, std::uint64_t file_bytes,
                        const std::string& where, Digits digits);

}  // namespace pibinn
