#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "pibinn/matrix.hpp"
#include "pibinn/structure.hpp"

namespace pibinn {

/// How full each part of an m x n matrix is, on a grid of few enough cells to be drawn.
struct PatternGrid {
    static constexpr std::size_t most_cells = 256;  ///< a side

    std::size_t m = 0;
    std::size_t n = 0;
    Matrix<double> share;  ///< of the entries of a cell, 0 to 1
};

/// The links of a structure, repetitions included.
PatternGrid pattern_of(const Structure& structure);
/// The non-zero entries of a matrix, its rows and columns taken in this order.
PatternGrid pattern_of(MatrixView<const float> a, std::span<const std::uint32_t> rows,
                       std::span<const std::uint32_t> cols);

/// One drawing of several that stand side by side.
struct PatternPanel {
    std::string title;
    PatternGrid grid;
};

/// Darker cells are fuller; the darkest is the fullest of its panel.
std::string pattern_svg(std::span<const PatternPanel> panels);
/// The same as a PNG file, written whole or not at all.
void pattern_png(std::span<const PatternPanel> panels, const std::filesystem::path& path);

}  // namespace pibinn
