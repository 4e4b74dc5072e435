#pragma once

#include "pibinn/basis.hpp"
#include "pibinn/operator.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// What an operator on signals does to their coefficients: A = Phi Psi, in every repetition. A
/// basis of complex signals makes a complex operator of a real one, which is repeated for both
/// parts.
Operator in_basis(const Operator& phi, const Basis& basis, ThreadPool& pool);

}  // namespace pibinn
