#include "spectral/rounding.hpp"

#include <cmath>

#include "core/infinity.hpp"

namespace pibinn {

namespace {

// Sizes within this of 1 have room on both sides for what is computed from them.
constexpr double kLeast = 0x1p-100, kMost = 0x1p+100;

bool within_range(const RoundedLayer& layer) {
    const double y = layer.operator_norm * layer.B;
    return layer.B >= kLeast && layer.B <= kMost && y >= kLeast && y + layer.noise <= kMost &&
           layer.column <= kMost && layer.column * (layer.operator_norm * layer.v + y) <= kMost;
}

}  // namespace

double extra_of_momentum(double beta) { return std::abs(1 + beta) + std::abs(beta) - 1; }

double rounding_of(const RoundedLayer& layer) {
    if (layer.unit == 0) return 0;
    if (!within_range(layer)) return kInfinity;
    const auto s = static_cast<double>(layer.s), m = static_cast<double>(layer.m);
    const double few = 2 * (s + 4) * layer.unit, many = 2 * (m + 8) * layer.unit;
    // A v has s terms per row; y is rounded, and subtracted from it.
    const double residual = few * layer.absolute_norm * (layer.B + layer.v) +
                            4 * layer.unit * (layer.operator_norm * layer.B + layer.noise);
    const double r = layer.operator_norm * layer.v + layer.noise + residual;
    return layer.column * (many * r + residual) + 8 * layer.unit * (layer.B + layer.v);
}

}  // namespace pibinn
