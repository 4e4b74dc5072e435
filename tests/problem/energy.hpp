#pragma once

#include <span>

namespace pibinn {

inline double energy(std::span<const float> values) {
    double sum = 0;
    for (const float v : values) sum += double{v} * v;
    return sum;
}

}  // namespace pibinn
