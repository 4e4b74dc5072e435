#include "spectral/rounding.hpp"

namespace pibinn {

double rounding_of(const RoundedLayer& layer) {
    if (layer.unit == 0) return 0;
    const auto s = static_cast<double>(layer.s), m = static_cast<double>(layer.m);
    const double few = 2 * (s + 4) * layer.unit, many = 2 * (m + 8) * layer.unit;
    // A v has s terms per row; y is rounded, and subtracted from it.
    const double residual = few * layer.absolute_norm * (layer.B + layer.v) +
                            4 * layer.unit * (layer.operator_norm * layer.B + layer.noise);
    const double r = layer.operator_norm * layer.v + layer.noise + residual;
    return layer.column * (many * r + residual) + 8 * layer.unit * (layer.B + layer.v);
}

}  // namespace pibinn
