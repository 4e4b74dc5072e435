#pragma once

#include <string>

#include "pibinn/operator.hpp"
#include "pibinn/problem.hpp"

namespace pibinn {

/// What to tell the owner of an operator that is nearly +c or -c in every entry, but not quite, so
/// that 32 bits per entry store it instead of one: how many entries differ, and the three that
/// differ most. Empty for any other operator.
///
/// Nearly: at least 90 % of the entries have one magnitude to 1e-3 of it, or all of them to 5 %. A
/// few zeros, as sign(0) makes them, are entries that differ.
std::string near_sign_warning(const Operator& op);
/// Adds it to the warnings of a problem.
void warn_of_entries(const Operator& op, Problem& problem);

}  // namespace pibinn
