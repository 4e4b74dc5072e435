#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "data/array_format.hpp"
#include "pibinn/sparse_matrix.hpp"

namespace pibinn {

/// A variable of a MATLAB file, as plain numbers.
struct MatVariable {
    std::string where;  ///< "FILE:NAME", as errors show it
    std::size_t rows = 0;
    std::size_t cols = 0;
    bool sparse = false;
    UserArray values;                  ///< of a full matrix
    std::vector<SparseEntry> entries;  ///< of a sparse one, by columns
    Numbers numbers = Numbers::real;   ///< what these are
};

/// One variable of a MATLAB file, version 5 to 7.3; without a name the only one it holds. Numbers,
/// real or complex, in full or sparse; anything else is an input error.
///
/// The numbers come through matio and, in version 7.3, libhdf5. Neither withstands hostile files:
/// call this in a child process only (`run_in_child`).
MatVariable read_mat_variable(const std::string& file, const std::string& name, Digits digits);

}  // namespace pibinn
