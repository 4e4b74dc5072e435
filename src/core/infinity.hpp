#pragma once

#include <limits>

namespace pibinn {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace pibinn
