#pragma once

#include <vector>

#include "model/parameters.hpp"
#include "pibinn/matrix.hpp"
#include "pibinn/operator.hpp"

namespace pibinn {

/// The network of math, signal by signal in float64 with whole matrices: slow, and short enough to
/// check by eye. Everything else is tested against it. Returns x_1 .. x_K. `parameters` are
/// effective ones, in the order of the layout.
std::vector<Matrix<double>> reference_layers(const NetworkSpec& spec, const Operator& op,
                                             const ParameterLayout& layout,
                                             std::span<const double> parameters,
                                             const Matrix<double>& y);

/// Polish of one signal: x becomes what conjugate gradients make of it on its support, in complex
/// numbers where groups are. The last of the layers above has it.
void reference_polish(const NetworkSpec& spec, const Operator& op, double cut,
                      std::span<const double> y, std::span<double> x);

}  // namespace pibinn
