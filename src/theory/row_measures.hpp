#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pibinn/model.hpp"

namespace pibinn {

/// What can be told of a recovered row, or of its part in one block, without knowing its signal.
struct RowMeasures {
    double length = 0;               ///< ||c|| of the coefficients recovered
    double measured = 0;             ///< ||y||
    std::optional<double> residual;  ///< ||y - A c||; nothing where the model has no operator
    /// Entries over a millionth of the largest one: less is the rounding of float32.
    std::size_t nonzeros = 0;

    /// ||y - A c|| / ||y||: infinite where y alone is zero.
    std::optional<double> relative_residual() const;
};

/// Which measurements and entries belong together.
struct RowPart {
    std::size_t row = 0, rows = 0;
    std::size_t col = 0, cols = 0;
};

/// The whole of it, and the blocks of a structure, every repetition by itself.
RowPart whole_row(const Model& model);
std::vector<RowPart> parts_of_row(const Model& model);

/// One row per signal and one column per part. The product is in float32, as the network's are.
Matrix<RowMeasures> measure_rows(const Model& model, ConstBatchView y, ConstBatchView coefficients,
                                 const std::vector<RowPart>& parts, ThreadPool& pool);

/// ||values||.
double length_of(std::span<const float> values);

}  // namespace pibinn
