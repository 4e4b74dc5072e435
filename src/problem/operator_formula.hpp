#pragma once

#include <optional>
#include <span>

#include "pibinn/matrix.hpp"
#include "pibinn/operator_formula.hpp"
#include "pibinn/structure.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// Refuses a formula that does not fit the structure, as an input error that says why.
void require_formula(const OperatorFormula& formula, const Structure& structure);

/// The same of the taps of an m x n block.
void require_taps(const BlockFormula& f, std::size_t m, std::size_t n);

/// The value of every link.
AlignedBuffer<float> formula_values(const OperatorFormula& formula, const Structure& structure);

/// The taps of entries that are constant along the diagonals of every part, where these are fewer
/// than the entries. Stops at the first entry that is not. None of a complex structure.
std::optional<OperatorFormula> find_convolution(const Structure& structure,
                                                std::span<const float> values);

/// The pattern of the taps that are not zero.
double convolution_links(const BlockFormula& f, std::size_t m, std::size_t n);
Structure convolution_mask(const BlockFormula& f, std::size_t m, std::size_t n);

/// The products by formula take less time than those by links.
bool formula_is_faster(const OperatorFormula& formula, const Structure& structure);
/// Y = X A^T and X = Y A, as Operator has them.
void apply_formula(const OperatorFormula& formula, const Structure& structure,
                   MatrixView<const float> x, MatrixView<float> y, ThreadPool& pool);
void adjoint_formula(const OperatorFormula& formula, const Structure& structure,
                     MatrixView<const float> y, MatrixView<float> x, ThreadPool& pool);

}  // namespace pibinn
