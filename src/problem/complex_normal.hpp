#pragma once

#include <cmath>
#include <complex>

#include "pibinn/random.hpp"

namespace pibinn {

/// CN(0, variance): real and imaginary part are N(0, variance / 2).
inline std::complex<double> complex_normal(Stream& stream, double variance) {
    const double deviation = std::sqrt(variance / 2);
    const double re = deviation * stream.normal();
    return {re, deviation * stream.normal()};
}

}  // namespace pibinn
