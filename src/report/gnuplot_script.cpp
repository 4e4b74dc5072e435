#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "report/gnuplot.hpp"
#include "report/plot_range.hpp"

namespace pibinn {

namespace {

using Text = fmt::memory_buffer;

// Middle tones that stand out on white and on a dark page alike, told apart by the colour-blind.
constexpr std::array<const char*, 6> kPalette{"3b7dd8", "e07b39", "2f9e6e",
                                              "9061c2", "c94f6d", "7a8699"};
// gnuplot's numbers of marks: filled circle, square, triangle, diamond, triangle down, pentagon;
// then plus, cross, star and the open square, triangle and diamond.
constexpr std::array<int, 12> kMarks{7, 5, 9, 13, 11, 15, 1, 2, 3, 4, 8, 12};
constexpr const char* kMuted = "#8a93a3";
// Pixels a letter takes on average, and how much of the width the axes leave to the curves.
constexpr double kLetter = 7.5;
constexpr double kInside = 0.8;
// Legends below the curves with more entries than this have one column.
constexpr std::size_t kFewEntries = 4;

template <class... Args>
void add(Text& text, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
}

std::string color_of(const Series& s) {
    return fmt::format("#{}{}", s.faint ? "80" : "", kPalette[s.color % kPalette.size()]);
}

void add_axis(Text& text, char name, const Axis& axis, Range range) {
    add(text, "set {}range [{:.12g}:{:.12g}]\n", name, range.low, range.high);
    if (!axis.label.empty()) {
        add(text, "set {}label {} offset {} textcolor rgb '{}'\n", name, gnuplot_quoted(axis.label),
            name == 'x' ? "0, 0.8" : "0.2, 0", ink());
    }
    if (axis.scale == Axis::Scale::log) {
        add(text, "set logscale {}\nset {}tics (", name, name);
        const char* separator = "";
        const std::vector<double> ticks = log_ticks(range);
        const std::vector<std::string> labels = tick_labels(ticks);
        for (std::size_t i = 0; i < ticks.size(); ++i) {
            add(text, "{}{} {:.12g}", separator, gnuplot_quoted(labels[i]), ticks[i]);
            separator = ", ";
        }
        add(text, ")\n");
    } else {
        add(text, "set format {} '{}'\n", name, linear_format(range));
        if (axis.whole) add(text, "set {}tics {:g}\n", name, whole_step(range));
    }
}

/// Where a value lies on an axis, as a share of its length.
double share(const Axis& axis, Range range, double value) {
    if (axis.scale == Axis::Scale::log)
        return std::log(value / range.low) / std::log(range.high / range.low);
    return (value - range.low) / (range.high - range.low);
}

std::vector<ReferenceLine> lines_of(const Plot& plot, ReferenceLine::Direction direction) {
    const bool vertical = direction == ReferenceLine::Direction::vertical;
    std::vector<ReferenceLine> lines;
    for (const ReferenceLine& line : plot.lines)
        if (line.direction == direction && drawable(vertical ? plot.x : plot.y, line.at))
            lines.push_back(line);
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return lines;
}

/// Vertical lines have their labels above the plot, each in the lowest row where it touches no
/// other. Answers how many rows there are.
std::size_t add_vertical_lines(Text& text, const Plot& plot, Range x) {
    std::vector<double> row_ends;
    for (const ReferenceLine& line : lines_of(plot, ReferenceLine::Direction::vertical)) {
        add(text,
            "set arrow from first {0:.12g}, graph 0 to first {0:.12g}, graph 1 nohead back "
            "lc rgb '{1}' dt 2\n",
            line.at, kMuted);
        if (line.label.empty()) continue;
        const double width = kLetter * static_cast<double>(line.label.size()) /
                             (kInside * static_cast<double>(plot.width));
        const double left = std::max(0.0, std::min(share(plot.x, x, line.at), 1 - width));
        const auto free =
            std::find_if(row_ends.begin(), row_ends.end(), [&](double end) { return end <= left; });
        const auto row = free - row_ends.begin();
        if (free == row_ends.end()) row_ends.push_back(0);
        row_ends[static_cast<std::size_t>(row)] = left + width + 0.01;
        add(text,
            "set label {} at graph {:.4f}, graph 1 offset 0, character {:.2f} left noenhanced "
            "textcolor rgb '{}'\n",
            gnuplot_quoted(line.label), left, 0.7 + 1.1 * static_cast<double>(row), kMuted);
    }
    return row_ends.size();
}

void add_horizontal_lines(Text& text, const Plot& plot) {
    for (const ReferenceLine& line : lines_of(plot, ReferenceLine::Direction::horizontal)) {
        add(text,
            "set arrow from graph 0, first {0:.12g} to graph 1, first {0:.12g} nohead back "
            "lc rgb '{1}' dt 2\n",
            line.at, kMuted);
        if (!line.label.empty())
            add(text,
                "set label {} at graph 0.99, first {:.12g} offset 0, character 0.5 right "
                "noenhanced textcolor rgb '{}'\n",
                gnuplot_quoted(line.label), line.at, kMuted);
    }
}

/// Answers whether the series has a point at all. An empty line makes the gap in a curve.
bool add_data(Text& text, const Plot& plot, const Series& s, std::size_t index) {
    add(text, "$data{} << EOD\n", index);
    std::size_t points = 0;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
        if (drawable(plot.x, s.x[i]) && drawable(plot.y, s.y[i])) {
            add(text, "{:.9g} {:.9g}\n", s.x[i], s.y[i]);
            ++points;
        } else {
            add(text, "\n");
        }
    }
    add(text, "EOD\n");
    return points > 0;
}

/// The clauses of the plot command that draw one series.
std::string clauses(const Series& s, std::size_t index) {
    const std::string title = s.label.empty() ? "notitle" : "title " + gnuplot_quoted(s.label);
    const std::string data = fmt::format("$data{} using 1:2", index);
    const std::string color = fmt::format("lc rgb '{}'", color_of(s));
    const char* width = s.faint ? "1" : "2.2";
    switch (s.style) {
        case Series::Style::line:
            return fmt::format("{} with lines lw {} {} {}", data, width, color, title);
        case Series::Style::line_points:
            return fmt::format("{} with linespoints lw {} pt 7 ps {} {} {}", data, width,
                               s.faint ? 0.25 : 0.5, color, title);
        case Series::Style::points:
            return fmt::format("{} with points pt 7 ps 0.6 {} {}", data, color, title);
        case Series::Style::circles:
            return fmt::format("{} with points pt 6 ps 1.1 lw 1.5 {} {}", data, color, title);
        case Series::Style::marks:
            return fmt::format("{} with points pt {} ps 1.1 lw 1.5 {} {}", data,
                               kMarks[s.mark % kMarks.size()], color, title);
        case Series::Style::stems:
            return fmt::format(
                "{0} with impulses lw 1.5 {1} notitle, {0} with points pt 7 ps 0.5 {1} {2}", data,
                color, title);
    }
    return {};
}

const char* legend_place(const Plot& plot) {
    if (plot.legend_beside) return "rmargin center vertical";
    const auto entries = std::count_if(plot.series.begin(), plot.series.end(),
                                       [](const Series& s) { return !s.label.empty(); });
    return static_cast<std::size_t>(entries) > kFewEntries ? "bmargin center vertical maxcols 1"
                                                           : "bmargin center horizontal";
}

}  // namespace

std::string gnuplot_quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (code < 0x20 || code == 0x7f)
            result += ' ';
        else if (code >= 0x80 || std::isalpha(code) || c == ' ')
            result += c;
        else
            result += fmt::format("\\{:03o}", code);
    }
    return result + "\"";
}

std::string ink() { return fmt::format("#{:02x}{:02x}{:02x}", kInk[0], kInk[1], kInk[2]); }

std::string gnuplot_script(const Plot& plot, const std::string& terminal) {
    const PlotRanges ranges = plot_ranges(plot);
    Text text;
    add(text, "set encoding utf8\nset minussign\nset terminal {}\n", terminal);
    add(text, "set border 3 lc rgb '{0}'\nset tics nomirror out scale 0.5 textcolor rgb '{0}'\n",
        ink());
    add(text, "set grid y lt 1 lw 0.7 lc rgb '#b08a93a3'\nset xtics offset 0, 0.3\n");
    add(text, "set key {} Left reverse samplen 2 height 0.8 textcolor rgb '{}'\n",
        legend_place(plot), ink());
    add_axis(text, 'x', plot.x, ranges.x);
    add_axis(text, 'y', plot.y, ranges.y);
    const std::size_t rows = add_vertical_lines(text, plot, ranges.x);
    add_horizontal_lines(text, plot);
    if (!plot.title.empty())
        add(text, "set title {} offset 0, character {:.1f} textcolor rgb '{}'\n",
            gnuplot_quoted(plot.title), 1.1 * static_cast<double>(rows), ink());
    add(text, "set tmargin {:.1f}\n",
        0.7 + 1.1 * static_cast<double>(rows) + (plot.title.empty() ? 0.0 : 1.8));

    std::string drawn;
    for (std::size_t i = 0; i < plot.series.size(); ++i)
        if (add_data(text, plot, plot.series[i], i))
            drawn += (drawn.empty() ? "" : ", ") + clauses(plot.series[i], i);
    if (drawn.empty()) {
        add(text, "set label 'no data' at graph 0.5, graph 0.5 center textcolor rgb '{}'\n",
            kMuted);
        // Something must be plotted for the axes to appear; 1/0 is a curve without points.
        drawn = "1/0 notitle";
    }
    add(text, "plot {}\n", drawn);
    return fmt::to_string(text);
}

}  // namespace pibinn
