#pragma once

#include <cstddef>

namespace pibinn::bench {

/// OUT (rows x outer) = IN (rows x inner) M. M is stored as inner x outer, or transposed as outer x
/// inner; all are row-major.
using Product = void (*)(bool transposed, std::size_t rows, std::size_t inner, std::size_t outer,
                         const float* in, const float* matrix, float* out);

void openblas_product(bool transposed, std::size_t rows, std::size_t inner, std::size_t outer,
                      const float* in, const float* matrix, float* out);
void eigen_product(bool transposed, std::size_t rows, std::size_t inner, std::size_t outer,
                   const float* in, const float* matrix, float* out);

}  // namespace pibinn::bench
