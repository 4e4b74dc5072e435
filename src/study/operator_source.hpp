#pragma once

#include <cstddef>
#include <string>

#include "pibinn/complex_rows.hpp"
#include "pibinn/operator.hpp"
#include "study/config.hpp"

namespace pibinn::study {

/// The operator of a file under a structure: `repeated` takes the file as the block, `blocks` as
/// the whole matrix with `repeat` equal blocks on its diagonal, `mask` takes its non-zero entries.
/// It may be complex where it is `dense` or `repeated`; `text` as for read_user_array.
Operator load_operator(const std::string& file, StructureKind structure, std::size_t repeat,
                       Numbers text);

/// The operator of the files that a configuration names, with all digits: also blocks of given
/// sizes, and blocks that are a file each.
Operator load_operator(const ProblemConfig& problem);
/// The same of signals that are real: a complex one is an input error.
Operator load_real_operator(const ProblemConfig& problem);

/// The matrix that load_operator reads back: one repetition of the operator, zeros included.
Matrix<float> operator_matrix(const Operator& op);

/// Whether load_operator reads a complex matrix for it: of a complex structure, or of real parts
/// above imaginary parts where real signals have complex measurements.
bool has_complex_matrix(const Structure& structure, const SignalDomain& domain);
/// That matrix, two columns per number.
Matrix<float> interleaved_matrix(const Operator& op);

}  // namespace pibinn::study
