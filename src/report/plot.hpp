#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pibinn {

/// A drawing of numbers, described without a word about who draws it.
struct Axis {
    enum class Scale { linear, log };

    std::string label;
    Scale scale = Scale::linear;
    std::optional<double> min;  ///< from the data unless given
    std::optional<double> max;
    bool whole = false;  ///< counts something: no ticks between whole numbers
};

/// Series::color and Series::mark of what stands beside our own: grey, and the first of the marks
/// that are drawn with lines.
inline constexpr std::size_t kGrey = 5;
inline constexpr std::size_t kFirstReferenceMark = 6;

struct Series {
    enum class Style {
        line,
        line_points,
        points,   ///< filled
        circles,  ///< open
        marks,    ///< of the shape that `mark` names: for a few points that must be told apart
        stems     ///< a thin line from zero up to a filled point
    };

    std::string label;  ///< in the legend; empty leaves the series out of it
    std::vector<double> x;
    std::vector<double> y;  ///< a value that cannot be drawn (NaN, 0 on a log axis) leaves a gap
    Style style = Style::line;
    std::size_t color = 0;  ///< index in the palette
    bool faint = false;     ///< thin and pale: one of many, with the main thing drawn over it
    std::size_t mark = 0;   ///< of `marks`: 0 to 5 are filled, 6 to 11 are drawn with lines
};

struct ReferenceLine {
    enum class Direction { vertical, horizontal };

    Direction direction = Direction::vertical;
    double at = 0;
    std::string label;
};

struct Plot {
    std::string title;
    Axis x;
    Axis y;
    std::vector<Series> series;  ///< later ones are drawn over earlier ones
    std::vector<ReferenceLine> lines;
    bool legend_beside = false;  ///< to the right, for many entries; otherwise below
    /// Pixels of the SVG; a PNG has twice as many. Letters are 14 pixels high: a page may shrink
    /// this to 330 pixels, as on a phone, before they get smaller than 11.
    std::size_t width = 420;
    std::size_t height = 270;
};

/// The same plot of the usual width, its legend below in one column.
Plot narrowed(Plot plot);

/// The SVG document of a plot, drawn by gnuplot. Without gnuplot an io error that names the
/// package.
std::string plot_svg(const Plot& plot);
/// The same as a PNG file, written whole or not at all.
void plot_png(const Plot& plot, const std::filesystem::path& path);

}  // namespace pibinn
