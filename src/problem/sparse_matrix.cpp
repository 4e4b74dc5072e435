#include "pibinn/sparse_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kMostDense = std::size_t{1} << 28U;
// A wider matrix must have an entry per row and column: its offsets would take memory for nothing.
constexpr std::size_t kMostEmpty = std::size_t{1} << 24U;

void require_shape(std::size_t rows, std::size_t cols, std::size_t entries,
                   std::string_view where) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    const std::size_t longest = std::max(rows, cols);
    if (longest < most && entries < most && (longest <= kMostEmpty || longest <= entries)) return;
    fail_input(fmt::format("'{}' claims {} x {} numbers but holds {}", where, rows, cols, entries),
               "the file is damaged, or the matrix too large");
}

}  // namespace

SparseMatrix SparseMatrix::from_entries(std::size_t rows, std::size_t cols,
                                        std::vector<SparseEntry> entries, std::string_view where,
                                        Numbers numbers) {
    require_shape(rows, cols, entries.size(), where);
    for (const SparseEntry& e : entries)
        if (e.row >= rows || e.col >= cols)
            fail_input(fmt::format("'{}' has an entry at row {}, column {} of {} x {}", where,
                                   e.row, e.col, rows, cols),
                       "the file is damaged: save it again");
    const auto place = [](const SparseEntry& e) { return std::tuple(e.col, e.row); };
    std::stable_sort(
        entries.begin(), entries.end(),
        [&](const SparseEntry& a, const SparseEntry& b) { return place(a) < place(b); });

    SparseMatrix matrix{rows, cols, std::vector<std::uint32_t>(cols + 1, 0), {}, {}, {}, numbers};
    for (std::size_t at = 0; at < entries.size();) {
        const SparseEntry& e = entries[at];
        double sum = 0, imaginary = 0;
        for (; at < entries.size() && place(entries[at]) == place(e); ++at) {
            sum += entries[at].value;
            imaginary += entries[at].imaginary;
        }
        // What float32 cannot hold, or holds as zero, is no entry of an operator.
        bool zero = true;
        for (const double part : {sum, imaginary}) {
            const auto value = static_cast<float>(part);
            if (!std::isfinite(value))
                fail_input(fmt::format("'{}' has {} at row {}, column {} (counted from 0)", where,
                                       part, e.row, e.col),
                           "replace NaN and infinite values, scale large ones down");
            zero = zero && value == 0.0F;
        }
        if (zero) continue;
        ++matrix.offsets[e.col + 1];
        matrix.row_indices.push_back(e.row);
        matrix.values.push_back(sum);
        if (matrix.complex()) matrix.imaginary.push_back(imaginary);
    }
    for (std::size_t j = 0; j < cols; ++j) matrix.offsets[j + 1] += matrix.offsets[j];
    return matrix;
}

template <class T>
Matrix<T> SparseMatrix::to_dense(std::string_view where) const {
    const std::size_t parts = complex() ? 2 : 1;
    if (cols > 0 && rows > kMostDense / parts / cols)
        fail_input(fmt::format("'{}' is sparse, and its {} x {} numbers are too many to be "
                               "held in full",
                               where, rows, cols),
                   "give a matrix of at most 2^28 numbers, or use it as a mask");
    Matrix<T> dense(rows, parts * cols);
    for (std::size_t j = 0; j < cols; ++j)
        for (std::size_t k = offsets[j]; k < offsets[j + 1]; ++k) {
            dense(row_indices[k], parts * j) = static_cast<T>(values[k]);
            if (complex()) dense(row_indices[k], 2 * j + 1) = static_cast<T>(imaginary[k]);
        }
    return dense;
}

template Matrix<float> SparseMatrix::to_dense(std::string_view) const;
template Matrix<double> SparseMatrix::to_dense(std::string_view) const;

}  // namespace pibinn
