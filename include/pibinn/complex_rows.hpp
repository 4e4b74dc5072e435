// room: core
#pragma once

#include <complex>
#include <cstddef>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// What the numbers of an array are. A complex one takes two columns of a batch: real part and
/// imaginary part (interleaved).
enum class Numbers { real, complex };

/// How the numbers of a row stand in it: `vectors` vectors of one length, one after the other, and
/// of complex vectors the real parts before the imaginary parts: `vectors` times (Re, Im).
struct RowLayout {
    bool complex = false;
    std::size_t vectors = 1;

    /// Whether rows of so many numbers can be laid out so.
    bool fits(std::size_t numbers) const {
        return vectors > 0 && numbers % vectors == 0 && numbers / vectors % (complex ? 2 : 1) == 0;
    }
    /// Entries of such rows, where a complex one is two numbers.
    std::size_t entries(std::size_t numbers) const { return complex ? numbers / 2 : numbers; }
};

/// Rows of complex numbers, each as real part and imaginary part in turn (interleaved), become rows
/// in which the real parts of a vector come first and its imaginary parts follow (split): the form
/// in which everything inside works. A row holds `vectors` vectors of one length.
Batch split_complex(ConstBatchView interleaved, std::size_t vectors = 1);
/// The inverse.
Batch interleave_complex(ConstBatchView split, std::size_t vectors = 1);

/// The same into memory that is there.
void split_complex(ConstBatchView interleaved, BatchView split, std::size_t vectors = 1);
void interleave_complex(ConstBatchView split, BatchView interleaved, std::size_t vectors = 1);

/// The same of float64.
Matrix<double> split_complex(MatrixView<const double> interleaved, std::size_t vectors = 1);

/// The same between split rows and numbers of std::complex, which are interleaved.
Batch split_complex(MatrixView<const std::complex<float>> rows, std::size_t vectors = 1);
Matrix<std::complex<float>> join_complex(ConstBatchView split, std::size_t vectors = 1);

/// Interleaved rows as rows of std::complex, where they stand. An odd number of columns is an input
/// error.
MatrixView<const std::complex<float>> complex_view(ConstBatchView interleaved);

}  // namespace pibinn
