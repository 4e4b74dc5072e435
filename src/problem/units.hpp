#pragma once

#include <memory>
#include <string>

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

/// Root mean square norm of the columns, in the precision that the operator was made of.
double column_norm(const Operator& op);
/// Root mean square of the entries that are present in the first `rows` rows.
double signal_size(const UserArray& x, std::size_t rows);

/// What the maker of the problem knows, otherwise what its training signals and operator have.
/// Units within a thousandth of 1 are 1.
Units units_of(const Problem& problem);

/// The same problem, measured in these units.
Problem in_units(const Problem& problem, const Units& units);

/// A number of the user's in a unit, as float32. A change of unit changes the last digits of a
/// float64 quotient, and noise that is drawn millions of times would find them.
double in_unit(double number, double unit);

/// A problem in units of 1.
struct NormalisedProblem {
    std::shared_ptr<const Problem> problem;
    Units units;     ///< what the user's numbers were divided by
    std::string of;  ///< the fingerprint of the problem in the user's units
};

/// Makes `problem` remember `own`, which was made of the same numbers divided by `units`.
void remember_normalised(Problem& problem, Problem own, const Units& units);

/// What training works on: what the problem remembers if its numbers are still the same, otherwise
/// its float32 numbers divided. It may refer to the problem itself.
NormalisedProblem normalised(const Problem& problem);

}  // namespace pibinn
