#include "report/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/file.hpp"
#include "report/gnuplot.hpp"

namespace pibinn {

namespace {

constexpr std::size_t kPanelWidth = 420;
constexpr std::size_t kHeight = 340;
// A very long or very tall matrix is drawn less so: its pattern would be a line.
constexpr double kFlattest = 0.3;
constexpr double kSteepest = 1.0;

/// Entries counted by cell.
class CellCounter {
public:
    CellCounter(std::size_t m, std::size_t n)
        : m_(m),
          n_(n),
          count_(std::min(m, PatternGrid::most_cells), std::min(n, PatternGrid::most_cells)) {}

    void add(std::size_t i, std::size_t j) {
        count_(i * count_.rows() / m_, j * count_.cols() / n_) += 1;
    }

    PatternGrid grid() && {
        const auto size = [](std::size_t cell, std::size_t cells, std::size_t length) {
            const auto start = [&](std::size_t c) { return (c * length + cells - 1) / cells; };
            return static_cast<double>(start(cell + 1) - start(cell));
        };
        for (std::size_t r = 0; r < count_.rows(); ++r)
            for (std::size_t c = 0; c < count_.cols(); ++c)
                count_(r, c) /= size(r, count_.rows(), m_) * size(c, count_.cols(), n_);
        return {m_, n_, std::move(count_)};
    }

private:
    std::size_t m_, n_;
    Matrix<double> count_;
};

/// The least of 1, 2, 5, 10, ... that has at most four ticks beside zero: labels of five digits
/// fit.
std::size_t tick_step(std::size_t length) {
    for (std::size_t power = 1;; power *= 10)
        for (const std::size_t step : {power, 2 * power, 5 * power})
            if (4 * step >= length) return step;
}

std::string panel_commands(const PatternPanel& panel, std::size_t index) {
    const Matrix<double>& share = panel.grid.share;
    const double fullest = *std::max_element(share.values().begin(), share.values().end());
    std::string text = fmt::format("$cells{} << EOD\n", index);
    // gnuplot draws no image of a single row or column: such a cell is given twice.
    const std::size_t tall = share.rows() == 1 ? 2 : share.rows();
    const std::size_t wide = share.cols() == 1 ? 2 : share.cols();
    for (std::size_t r = 0; r < tall; ++r) {
        for (std::size_t c = 0; c < wide; ++c) {
            const double v = share(r % share.rows(), c % share.cols());
            // The root keeps a thin pattern visible beside a full one.
            text += fmt::format("{:.4g} ", fullest > 0 ? std::sqrt(v / fullest) : 0.0);
        }
        text += '\n';
    }
    const auto m = static_cast<double>(panel.grid.m);
    const auto n = static_cast<double>(panel.grid.n);
    text +=
        fmt::format("EOD\nset title {} textcolor rgb '{}'\nset size ratio {:.4f}\n",
                    gnuplot_quoted(panel.title), ink(), std::clamp(m / n, kFlattest, kSteepest));
    text +=
        fmt::format("set xrange [0:{}]\nset yrange [{}:0]\nset xtics {}\nset ytics {}\n",
                    panel.grid.n, panel.grid.m, tick_step(panel.grid.n), tick_step(panel.grid.m));
    text += fmt::format(
        "plot $cells{} matrix using (($1 + 0.5) * {:.12g}):(($2 + 0.5) * {:.12g}):3 with image "
        "notitle\n",
        index, n / static_cast<double>(wide), m / static_cast<double>(tall));
    return text;
}

std::string script(std::span<const PatternPanel> panels, const std::string& terminal) {
    std::string text = fmt::format(
        "set encoding utf8\nset terminal {0}\nunset colorbox\n"
        "set palette defined (0 '#eef1f6', 0.3 '#9db8dc', 1 '#1f4e93')\nset cbrange [0:1]\n"
        "set border 15 lc rgb '{1}'\nset tics out nomirror scale 0.5 textcolor rgb '{1}'\n"
        "set xlabel 'signal entry (column)' textcolor rgb '{1}'\n"
        "set ylabel 'measurement (row)' textcolor rgb '{1}'\n"
        "set multiplot layout 1,{2}\n",
        terminal, ink(), panels.size());
    for (std::size_t p = 0; p < panels.size(); ++p) text += panel_commands(panels[p], p);
    return text + "unset multiplot\n";
}

}  // namespace

PatternGrid pattern_of(const Structure& structure) {
    CellCounter counter(structure.rows(), structure.cols());
    structure.for_each_link([&](std::size_t i, std::size_t j, std::size_t) { counter.add(i, j); });
    return std::move(counter).grid();
}

PatternGrid pattern_of(MatrixView<const float> a, std::span<const std::uint32_t> rows,
                       std::span<const std::uint32_t> cols) {
    CellCounter counter(rows.size(), cols.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto row = a.row(rows[i]);
        for (std::size_t j = 0; j < cols.size(); ++j)
            if (row[cols[j]] != 0.0F) counter.add(i, j);
    }
    return std::move(counter).grid();
}

std::string pattern_svg(std::span<const PatternPanel> panels) {
    std::string svg = run_gnuplot(
        script(panels, fmt::format("svg size {},{} dynamic noenhanced font 'sans-serif,14'",
                                   kPanelWidth * panels.size(), kHeight)));
    // Cells have edges; browsers would blur them. Text cannot hold the tag: its < is escaped.
    constexpr std::string_view tag = "<image ";
    constexpr std::string_view style = "style='image-rendering:pixelated' ";
    for (std::size_t at = 0; (at = svg.find(tag, at)) != std::string::npos; at += tag.size())
        svg.insert(at + tag.size(), style);
    return svg;
}

void pattern_png(std::span<const PatternPanel> panels, const std::filesystem::path& path) {
    write_file(path, run_gnuplot(script(
                         panels, fmt::format("pngcairo size {},{} noenhanced font 'sans,14' "
                                             "fontscale 2 linewidth 2 background '#ffffff'",
                                             2 * kPanelWidth * panels.size(), 2 * kHeight))));
}

}  // namespace pibinn
