#include "pibinn/complex_rows.hpp"

#include <fmt/format.h>

#include "pibinn/error.hpp"

namespace pibinn {

namespace {

/// Complex entries of one vector.
template <class T>
std::size_t entries_per_vector(MatrixView<const T> from, MatrixView<const T> to,
                               std::size_t vectors) {
    if (!RowLayout{true, vectors}.fits(from.cols))
        fail_input(
            fmt::format("rows of {} numbers do not hold {} complex vector(s)", from.cols, vectors),
            "a complex entry is two numbers, and all vectors of a row have one length");
    if (from.rows != to.rows || from.cols != to.cols)
        fail_usage(fmt::format("{} x {} numbers into memory for {} x {}", from.rows, from.cols,
                               to.rows, to.cols),
                   "give memory of the same shape");
    return from.cols / (2 * vectors);
}

/// The numbers of std::complex stand as the standard says: real part, imaginary part.
ConstBatchView as_floats(MatrixView<const std::complex<float>> rows) {
    return {reinterpret_cast<const float*>(rows.data), rows.rows, 2 * rows.cols, 2 * rows.stride};
}

template <class T>
void split_rows(MatrixView<const T> interleaved, MatrixView<T> split, std::size_t vectors) {
    const std::size_t n = entries_per_vector<T>(interleaved, split, vectors);
    for (std::size_t i = 0; i < split.rows; ++i)
        for (std::size_t v = 0; v < vectors; ++v) {
            const T* from = interleaved.row(i).data() + v * 2 * n;
            T* to = split.row(i).data() + v * 2 * n;
            for (std::size_t j = 0; j < n; ++j) {
                to[j] = from[2 * j];
                to[n + j] = from[2 * j + 1];
            }
        }
}

}  // namespace

void split_complex(ConstBatchView interleaved, BatchView split, std::size_t vectors) {
    split_rows<float>(interleaved, split, vectors);
}

Matrix<double> split_complex(MatrixView<const double> interleaved, std::size_t vectors) {
    Matrix<double> out(interleaved.rows, interleaved.cols);
    split_rows<double>(interleaved, out, vectors);
    return out;
}

void interleave_complex(ConstBatchView split, BatchView interleaved, std::size_t vectors) {
    const std::size_t n = entries_per_vector<float>(split, interleaved, vectors);
    for (std::size_t i = 0; i < split.rows; ++i)
        for (std::size_t v = 0; v < vectors; ++v) {
            const float* from = split.row(i).data() + v * 2 * n;
            float* to = interleaved.row(i).data() + v * 2 * n;
            for (std::size_t j = 0; j < n; ++j) {
                to[2 * j] = from[j];
                to[2 * j + 1] = from[n + j];
            }
        }
}

Batch split_complex(ConstBatchView interleaved, std::size_t vectors) {
    Batch out(interleaved.rows, interleaved.cols);
    split_complex(interleaved, out, vectors);
    return out;
}

Batch interleave_complex(ConstBatchView split, std::size_t vectors) {
    Batch out(split.rows, split.cols);
    interleave_complex(split, out, vectors);
    return out;
}

MatrixView<const std::complex<float>> complex_view(ConstBatchView interleaved) {
    const bool whole = interleaved.cols % 2 == 0 && interleaved.stride % 2 == 0;
    if (!whole)
        fail_input(fmt::format("rows of {} numbers, {} apart, are no complex ones",
                               interleaved.cols, interleaved.stride),
                   "a complex entry is two numbers");
    return {reinterpret_cast<const std::complex<float>*>(interleaved.data), interleaved.rows,
            interleaved.cols / 2, interleaved.stride / 2};
}

Batch split_complex(MatrixView<const std::complex<float>> rows, std::size_t vectors) {
    return split_complex(as_floats(rows), vectors);
}

Matrix<std::complex<float>> join_complex(ConstBatchView split, std::size_t vectors) {
    entries_per_vector<float>(split, split, vectors);
    Matrix<std::complex<float>> rows(split.rows, split.cols / 2);
    interleave_complex(split, {reinterpret_cast<float*>(rows.data()), split.rows, split.cols},
                       vectors);
    return rows;
}

}  // namespace pibinn
