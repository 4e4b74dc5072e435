#pragma once

#include <string>
#include <vector>

#include "pibinn/problem.hpp"

namespace pibinn {

/// Arrays as everything inside has them: rows split, and an operator on such rows.
struct LaidOutArrays {
    ArrayProblem arrays;
    SignalDomain domain;
    std::vector<std::string> notes;
};

/// Whether arrays have complex numbers or several vectors per row.
bool needs_layout(const ArrayProblem& arrays);

/// What such arrays mean. A real operator acts on the real and the imaginary parts of complex
/// signals, I (x) A; a complex one as [[Re, -Im], [Im, Re]], and on real signals as [Re; Im];
/// either on every vector of a row. Arrays that do not go together are errors.
LaidOutArrays lay_out(const ArrayProblem& arrays);

/// What a person is told where one of the two is complex and the other is not.
inline constexpr const char* kRealOperatorNote =
    "the operator is real and the signals are complex: it measures real and imaginary parts alike, "
    "which makes complex measurements";
inline constexpr const char* kRealSignalsNote =
    "the operator is complex and the signals are real: it measures as [Re A; Im A], real parts "
    "before imaginary parts, which uses that the signals have no imaginary part";

/// An operator on complex vectors, split: a real one acts on both parts, a complex one stays as it
/// is. A `repeated` one acts once per vector of a row.
Operator on_complex_vectors(const Operator& op);
/// A complex operator on real vectors: [Re; Im]. A `repeated` one acts once per vector of a row.
Operator on_real_vectors(const Operator& op);

}  // namespace pibinn
