#include "pibinn/complex_rows.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Complex entries of one vector.
std::size_t entries_per_vector(std::size_t cols, std::size_t vectors) {
    if (vectors == 0 || cols % (2 * vectors) != 0)
        fail_input(
            fmt::format("rows of {} numbers do not hold {} complex vector(s)", cols, vectors),
            "a complex entry is two numbers, and all vectors of a row have one length");
    return cols / (2 * vectors);
}

}  // namespace

Batch split_complex(ConstBatchView interleaved, std::size_t vectors) {
    const std::size_t n = entries_per_vector(interleaved.cols, vectors);
    Batch out(interleaved.rows, interleaved.cols);
    for (std::size_t i = 0; i < out.rows(); ++i)
        for (std::size_t v = 0; v < vectors; ++v) {
            const float* from = interleaved.row(i).data() + v * 2 * n;
            float* to = out.row(i).data() + v * 2 * n;
            for (std::size_t j = 0; j < n; ++j) {
                to[j] = from[2 * j];
                to[n + j] = from[2 * j + 1];
            }
        }
    return out;
}

Batch interleave_complex(ConstBatchView split, std::size_t vectors) {
    const std::size_t n = entries_per_vector(split.cols, vectors);
    Batch out(split.rows, split.cols);
    for (std::size_t i = 0; i < out.rows(); ++i)
        for (std::size_t v = 0; v < vectors; ++v) {
            const float* from = split.row(i).data() + v * 2 * n;
            float* to = out.row(i).data() + v * 2 * n;
            for (std::size_t j = 0; j < n; ++j) {
                to[2 * j] = from[j];
                to[2 * j + 1] = from[n + j];
            }
        }
    return out;
}

}  // namespace pibinn
