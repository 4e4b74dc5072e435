#pragma once

#include "pibinn/problem.hpp"

namespace pibinn {

/// The units of a user's data. Recipes are made for signals whose entries are about 1 and for
/// columns of norm 1, so that training divides by these.
struct Units {
    double signal = 1;  ///< root mean square of the entries that are present
    double column = 1;  ///< root mean square norm of the operator's columns

    double measurement() const { return signal * column; }
    bool plain() const { return signal == 1 && column == 1; }
};

/// Root mean square norm of the columns.
double column_norm(const Operator& op);

/// What the maker of the problem knows, otherwise what its training signals and operator have.
/// Units within a thousandth of 1 are 1.
Units units_of(const Problem& problem);

/// The same problem, measured in these units.
Problem in_units(const Problem& problem, const Units& units);

}  // namespace pibinn
