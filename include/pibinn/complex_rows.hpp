// room: core
#pragma once

#include <cstddef>

#include "pibinn/matrix.hpp"

namespace pibinn {

/// Rows of complex numbers, each as real part and imaginary part in turn (interleaved), become rows
/// in which the real parts of a vector come first and its imaginary parts follow (split): the form
/// in which everything inside works. A row holds `vectors` vectors of one length.
Batch split_complex(ConstBatchView interleaved, std::size_t vectors = 1);
/// The inverse.
Batch interleave_complex(ConstBatchView split, std::size_t vectors = 1);

}  // namespace pibinn
