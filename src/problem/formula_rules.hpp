#pragma once

#include <memory>
#include <span>
#include <vector>

#include "pibinn/operator_formula.hpp"

namespace pibinn {

/// The products of one block with one vector, in less time than its entries take. It owns its
/// workspace: one per thread.
class FormulaProduct {
public:
    virtual ~FormulaProduct() = default;
    /// y = A x.
    virtual void apply(std::span<const float> x, std::span<float> y) = 0;
    /// x = A^T y.
    virtual void adjoint(std::span<const float> y, std::span<float> x) = 0;
};

/// What is particular to one formula.
struct FormulaRules {
    std::string_view name;
    /// Rows of the transform of n entries; null for what is none.
    std::size_t (*transform_rows)(std::size_t n) = nullptr;
    /// The entries of an m x n block, column by column.
    void (*fill)(const BlockFormula& f, std::size_t m, std::size_t n,
                 std::span<float> values) = nullptr;
    /// The products below take less time than those of all entries.
    bool (*faster)(const BlockFormula& f, std::size_t m, std::size_t n) = nullptr;
    std::unique_ptr<FormulaProduct> (*product)(const BlockFormula& f, std::size_t m,
                                               std::size_t n) = nullptr;
};

const FormulaRules& rules_of(FormulaKind kind);

/// cos(pi t / (2 n)) for t = 0 .. 4 n - 1. Angles are reduced in whole numbers: exact for any n.
std::vector<double> quarter_cosines(std::size_t n);

}  // namespace pibinn
