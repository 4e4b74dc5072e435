#include "report/plot.hpp"

#include <fmt/format.h>

#include "core/file.hpp"
#include "report/gnuplot.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kLegendLine = 19;  // pixels of one entry

}  // namespace

Plot narrowed(Plot plot) {
    plot.width = Plot{}.width;
    plot.height = Plot{}.height;
    plot.legend_beside = false;
    for (const Series& s : plot.series)
        if (!s.label.empty()) plot.height += kLegendLine;
    return plot;
}

std::string plot_svg(const Plot& plot) {
    // `dynamic` lets the page choose the size.
    return run_gnuplot(
        gnuplot_script(plot, fmt::format("svg size {},{} dynamic noenhanced font 'sans-serif,14'",
                                         plot.width, plot.height)));
}

void plot_png(const Plot& plot, const std::filesystem::path& path) {
    write_file(path,
               run_gnuplot(gnuplot_script(
                   plot, fmt::format("pngcairo size {},{} noenhanced font 'sans,14' fontscale 2 "
                                     "linewidth 2 pointscale 2 background '#ffffff'",
                                     2 * plot.width, 2 * plot.height))));
}

}  // namespace pibinn
