#pragma once

#include <algorithm>
#include <span>

#include "pibinn/structure.hpp"

namespace pibinn {

inline double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Writes column j of a block to `out`, which has m entries.
inline void scatter_column(const Block& b, std::span<const double> values, std::size_t j,
                           std::span<double> out) {
    const std::size_t begin = b.column_begin(j), end = b.column_begin(j + 1);
    if (b.full()) {
        std::copy(values.begin() + begin, values.begin() + end, out.begin());
        return;
    }
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t l = begin; l < end; ++l) out[b.row_indices[l]] = values[l];
}

}  // namespace pibinn
