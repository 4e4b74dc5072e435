#include "report/plot.hpp"

#include <fmt/format.h>

#include "core/file.hpp"
#include "report/gnuplot.hpp"

namespace pibinn {

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
