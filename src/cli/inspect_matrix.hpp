#pragma once

#include <string>

#include "cli/console.hpp"

namespace pibinn::cli {

/// What was asked of a matrix.
struct MatrixInspection {
    std::string file;
    float zero_below = 0;
    std::size_t layers = 20;
    std::string out;      ///< a folder; empty for none
    std::string picture;  ///< .svg or .png; empty for none
};

/// Tells the structures that a matrix has, what each would store, and how to train the smallest.
void inspect_matrix(const MatrixInspection& inspection, const Console& console);

}  // namespace pibinn::cli
