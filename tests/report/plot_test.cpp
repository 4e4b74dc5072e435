#include "report/plot.hpp"

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

#include "core/file.hpp"
#include "pibinn/error.hpp"
#include "report/gnuplot.hpp"
#include "report/helpers.hpp"
#include "report/plot_range.hpp"

namespace pibinn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Plot plot_of(std::vector<double> x, std::vector<double> y) {
    Plot plot;
    plot.series.push_back({"curve", std::move(x), std::move(y)});
    return plot;
}

TEST(PlotSvg, DrawsEveryStyleWithItsLabel) {
    using Style = Series::Style;
    Plot plot;
    plot.title = "All styles";
    plot.x.label = "epoch";
    plot.y.label = "θ";
    for (const auto& [style, name] :
         {std::pair{Style::line, "a-line"}, std::pair{Style::line_points, "a-line-with-points"},
          std::pair{Style::points, "some-points"}, std::pair{Style::circles, "some-circles"},
          std::pair{Style::marks, "some-marks"}, std::pair{Style::stems, "some-stems"}})
        plot.series.push_back({name, {1, 2, 3}, {1, -2, 3}, style});
    const std::string svg = plot_svg(plot);
    EXPECT_TRUE(contains(svg, "</svg>"));
    for (const char* text : {"All styles", "epoch", "θ", "a-line<", "a-line-with-points",
                             "some-points", "some-circles", "some-marks", "some-stems"})
        EXPECT_TRUE(contains(svg, text)) << text;
}

TEST(PlotSvg, ShowsTextAsItIsAndRunsNoneOfIt) {
    const auto witness =
        std::filesystem::temp_directory_path() / ("pibinn_witness_" + std::to_string(::getpid()));
    const std::string attack =
        "it's \"5\" `touch " + witness.string() + "` '7 \\n @x $y <b> & %d _^{2}";
    Plot plot = plot_of({1, 2}, {1, 2});
    plot.title = plot.x.label = plot.y.label = plot.series[0].label = attack;
    plot.lines.push_back({ReferenceLine::Direction::vertical, 1.5, attack});
    plot.lines.push_back({ReferenceLine::Direction::horizontal, 1.5, attack});
    plot.series.push_back({"'\nsystem 'touch " + witness.string() + "'\n", {1}, {1}});
    const std::string svg = plot_svg(plot);
    EXPECT_FALSE(std::filesystem::exists(witness));
    EXPECT_EQ(count(svg, "it's \"5\" `touch"), 6u);
    EXPECT_EQ(count(svg, "` '7 \\n @x $y &lt;b> &amp; %d _^{2}<"), 6u);
}

TEST(PlotSvg, IsDrawnWhateverTheNumbersAre) {
    const std::vector<std::pair<std::vector<double>, std::vector<double>>> cases{
        {{}, {}},
        {{1}, {5}},
        {{1}, {0}},
        {{1, 2, 3}, {7, 7, 7}},
        {{1, 2, 3}, {kNaN, kNaN, kNaN}},
        {{1, 2, 3, 4}, {1, kNaN, kInfinity, -kInfinity}},
        {{kNaN, 1}, {1, 1}},
        {{1, 2}, {-3, 0}},
        {{1, 2}, {1e300, 1e-300}},
        {{1, 2}, {-1e308, 1e308}},
        {{1, 2}, {1, 1 + 1e-15}}};
    for (std::size_t i = 0; i < cases.size(); ++i)
        for (const auto scale : {Axis::Scale::linear, Axis::Scale::log}) {
            Plot plot = plot_of(cases[i].first, cases[i].second);
            plot.y.scale = scale;
            EXPECT_TRUE(contains(plot_svg(plot), "</svg>")) << "case " << i;
        }
}

TEST(PlotSvg, SaysWhenThereIsNothingToDraw) {
    EXPECT_TRUE(contains(plot_svg(Plot{}), "no data"));
    EXPECT_TRUE(contains(plot_svg(plot_of({1}, {kNaN})), "no data"));
    EXPECT_FALSE(contains(plot_svg(plot_of({1}, {1})), "no data"));
}

TEST(PlotSvg, LeavesAGapWhereAValueIsMissing) {
    const std::string script = gnuplot_script(plot_of({1, 2, 3}, {4, kNaN, 6}), "svg");
    EXPECT_TRUE(contains(script, "1 4\n\n3 6\n")) << script;
}

TEST(PlotSvg, KeepsLabelsOfCloseLinesApart) {
    Plot plot = plot_of({0, 100}, {0, 1});
    for (const double at : {10.0, 11.0, 80.0})
        plot.lines.push_back({ReferenceLine::Direction::vertical, at, "pretraining"});
    const std::string script = gnuplot_script(plot, "svg");
    // The second would touch the first and moves up a row; the third has room in the lowest.
    EXPECT_EQ(count(script, "character 0.70 left"), 2u) << script;
    EXPECT_EQ(count(script, "character 1.80 left"), 1u) << script;
}

TEST(PlotSvg, RefusesRangesThatAreNone) {
    Plot plot = plot_of({1, 2}, {1, 2});
    plot.y.min = 3;
    plot.y.max = 3;
    EXPECT_THROW(plot_svg(plot), Error);
    plot.y.min = 0;
    plot.y.scale = Axis::Scale::log;
    EXPECT_THROW(plot_svg(plot), Error);
    plot.y.min = kNaN;
    plot.y.scale = Axis::Scale::linear;
    EXPECT_THROW(plot_svg(plot), Error);
}

TEST(PlotPng, WritesAPngFile) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("pibinn_plot_" + std::to_string(::getpid()) + ".png");
    plot_png(plot_of({1, 2}, {1, 2}), path);
    EXPECT_EQ(read_file(path).substr(0, 8), "\x89PNG\r\n\x1a\n");
    std::filesystem::remove(path);
}

TEST(Gnuplot, MissingIsAnErrorThatNamesThePackage) {
    const WithoutPrograms without;
    try {
        plot_svg(plot_of({1, 2}, {1, 2}));
        FAIL() << "drew without gnuplot";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io);
        EXPECT_STREQ(error.what(), "gnuplot not found; install gnuplot-nox");
    }
}

TEST(Gnuplot, PassesOnWhatItComplainsOf) {
    try {
        run_gnuplot("set terminal svg\nplott 1\n");
        FAIL() << "a bad script passed";
    } catch (const Error& error) {
        EXPECT_TRUE(contains(error.what(), "invalid command")) << error.what();
    }
}

TEST(PlotRange, HoldsAllThatCanBeDrawnAndTheEndsThatWereGiven) {
    Plot plot = plot_of({1, 2, 3}, {-4, 6, kNaN});
    plot.lines.push_back({ReferenceLine::Direction::horizontal, 9, ""});
    PlotRanges ranges = plot_ranges(plot);
    EXPECT_LT(ranges.y.low, -4);
    EXPECT_GT(ranges.y.high, 9);
    EXPECT_LT(ranges.x.high, 2.5);  // the point without a y does not count
    plot.y.min = -7;
    ranges = plot_ranges(plot);
    EXPECT_EQ(ranges.y.low, -7);
}

TEST(PlotRange, StemsStandOnZero) {
    Plot plot = plot_of({1, 2}, {5, 6});
    EXPECT_GT(plot_ranges(plot).y.low, 0);
    plot.series[0].style = Series::Style::stems;
    EXPECT_LE(plot_ranges(plot).y.low, 0);
}

TEST(PlotRange, LogAxesHaveTwoTicksAtLeastAndNotTooMany) {
    for (const auto& [low, high] : {std::pair{0.3, 0.31}, std::pair{1.0, 1.0}, std::pair{0.02, 3.0},
                                    std::pair{1e-9, 1e3}, std::pair{1e-90, 1e90}}) {
        Plot plot = plot_of({1, 2}, {low, high});
        plot.y.scale = Axis::Scale::log;
        const Range range = plot_ranges(plot).y;
        EXPECT_LE(range.low, low);
        EXPECT_GE(range.high, high);
        const std::size_t ticks = log_ticks(range).size();
        EXPECT_GE(ticks, 2u) << low << " to " << high;
        EXPECT_LE(ticks, 9u) << low << " to " << high;
    }
}

TEST(PlotRange, LabelsOfALogAxisHaveOneForm) {
    EXPECT_EQ(tick_labels({1e4, 1e5, 1e6}), (std::vector<std::string>{"10⁴", "10⁵", "10⁶"}));
    EXPECT_EQ(tick_labels({2e5, 5e5}), (std::vector<std::string>{"2·10⁵", "5·10⁵"}));
    EXPECT_EQ(tick_labels({1e-12, 1}), (std::vector<std::string>{"10⁻¹²", "10⁰"}));
    EXPECT_EQ(tick_labels({0.01, 0.5, 20}), (std::vector<std::string>{"0.01", "0.5", "20"}));
    for (int k = -90; k <= 90; ++k)
        EXPECT_FALSE(contains(tick_labels({std::pow(10, k), 1e99})[0], "10·")) << k;
}

TEST(PlotRange, LabelsOfALinearAxisHaveOneForm) {
    EXPECT_STREQ(linear_format({-20, 5}), "%g");
    EXPECT_STREQ(linear_format({0, 1.2e6}), "%.0f");
    EXPECT_STREQ(linear_format({-1e-5, 1e-5}), "%.1e");
}

TEST(PlotSvg, NeverMixesPlainNumbersAndExponents) {
    Plot plot = plot_of({1e4, 3e6}, {1, 2});
    plot.x.scale = Axis::Scale::log;
    const std::string log_axis = plot_svg(plot);
    EXPECT_TRUE(contains(log_axis, "10⁵")) << log_axis;
    EXPECT_FALSE(contains(log_axis, "e+0"));
    EXPECT_FALSE(contains(log_axis, "100000<"));
    plot.x.scale = Axis::Scale::linear;
    EXPECT_FALSE(contains(plot_svg(plot), "e+0"));
}

TEST(Plot, NarrowedHasItsLegendBelowAndRoomForIt) {
    Plot plot = plot_of({1, 2}, {1, 2});
    plot.width = 900;
    plot.legend_beside = true;
    for (int i = 0; i < 7; ++i) plot.series.push_back(plot.series.front());
    const Plot narrow = narrowed(plot);
    EXPECT_EQ(narrow.width, Plot{}.width);
    EXPECT_GE(narrow.height, Plot{}.height + 8 * 15);
    EXPECT_TRUE(contains(gnuplot_script(narrow, "svg"), "bmargin center vertical maxcols 1"));
    EXPECT_TRUE(contains(gnuplot_script(plot, "svg"), "rmargin center vertical"));
}

TEST(PlotRange, CountingAxesHaveWholeTicks) {
    EXPECT_EQ(whole_step({1, 2}), 1);
    EXPECT_EQ(whole_step({0, 20}), 5);
    EXPECT_EQ(whole_step({0, 780}), 100);
}

}  // namespace
}  // namespace pibinn
