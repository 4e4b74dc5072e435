#include "report/html.hpp"

#include <limits>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/numbers.hpp"
#include "pibinn/error.hpp"
#include "report/helpers.hpp"
#include "report/svg.hpp"

namespace pibinn {
namespace {

const std::string kAttack = "<script>alert(\"1\")</script> & 'more'";
const std::string kHarmless =
    "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;";

Figure figure_of(const std::string& heading) {
    Figure figure;
    figure.heading = heading;
    figure.plot.series.push_back({"curve", {1, 2}, {1, 2}, Series::Style::line_points});
    return figure;
}

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
    const std::regex expression(pattern);
    std::vector<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it)
        found.push_back((*it)[1]);
    return found;
}

TEST(Page, EscapesTextWhereverItStands) {
    const std::vector<std::string> facts{kAttack};
    Page page(kAttack, kAttack, facts);
    page.section(kAttack, kAttack);
    page.paragraph(kAttack);
    const std::vector<KeyFigure> figures{{kAttack, kAttack, kAttack, kAttack}};
    page.key_figures(figures);
    page.table({{{kAttack, false}}, {{{kAttack}, false}}});
    const std::vector<Figure> plots{{kAttack, {}, kAttack}};
    page.figures(plots);
    page.code(kAttack);
    const std::string html = page.html(kAttack);
    EXPECT_FALSE(contains(html, "<script"));
    // Title twice (head and h1), heading of the figure twice (h3 and label of the drawing).
    EXPECT_EQ(count(html, kHarmless), 3u + 1u + 2u + 1u + 4u + 2u + 3u + 1u + 1u);
}

TEST(Page, SetsNumbersFlushRight) {
    Page page("kind", "title", {});
    page.table(
        {{{"method", false}, {"nmse", true}}, {{{"ours", "1.5"}, true}, {{"x", "2"}, false}}});
    const std::string html = page.html("");
    EXPECT_TRUE(contains(html, "<th>method</th><th class=\"number\">nmse</th>"));
    EXPECT_TRUE(
        contains(html, "<tr class=\"highlight\"><td>ours</td><td class=\"number\">1.5</td>"));
    EXPECT_TRUE(contains(html, "<tr><td>x</td><td class=\"number\">2</td>"));
    EXPECT_TRUE(contains(html, ".number { text-align: right;"));
}

TEST(Page, RefusesRowsThatDoNotFitTheColumns) {
    Page page("kind", "title", {});
    EXPECT_THROW(page.table({{{"a", false}}, {{{"1", "2"}, false}}}), Error);
    EXPECT_THROW(table_text({{{"a", false}}, {{{}, false}}}), Error);
}

TEST(Page, KeepsTheIdsOfItsPlotsApart) {
    Page page("kind", "title", {});
    const std::vector<Figure> figures{figure_of("one"), figure_of("two"), figure_of("three")};
    page.figures(figures);
    const std::string html = page.html("");
    const std::vector<std::string> ids = matches(html, " id=[\"']([^\"']*)[\"']");
    const std::set<std::string> distinct(ids.begin(), ids.end());
    EXPECT_GT(ids.size(), 30u);
    EXPECT_EQ(ids.size(), distinct.size());
    const std::vector<std::string> references = matches(html, "(?:href=[\"']|url\\()#([^\"')]*)");
    EXPECT_GT(references.size(), 10u);
    for (const std::string& reference : references)
        EXPECT_TRUE(distinct.contains(reference)) << reference;
}

TEST(Page, DrawsAPlotWithALegendBesideItForNarrowScreensToo) {
    Page page("kind", "title", {});
    std::vector<Figure> figures{figure_of("one"), figure_of("two")};
    figures[1].plot.legend_beside = true;
    figures[1].plot.width = 900;
    page.figures(figures);
    const std::string html = page.html("");
    EXPECT_EQ(count(html, "<svg"), 3u);
    EXPECT_EQ(count(html, "<div class=\"broad\"><svg"), 1u);
    EXPECT_EQ(count(html, "<div class=\"narrow\"><svg"), 1u);
    EXPECT_TRUE(contains(html, "viewBox=\"0 0 900 "));
}

TEST(Page, LeavesANoteInPlaceOfAPlotWithoutGnuplot) {
    Page page("kind", "title", {});
    const std::vector<Figure> figures{figure_of("Loss by epoch")};
    {
        const WithoutPrograms without;
        page.figures(figures);
    }
    const std::string html = page.html("");
    EXPECT_TRUE(contains(html, "Loss by epoch"));
    EXPECT_TRUE(contains(html, "No plot: gnuplot not found; install gnuplot-nox"));
    EXPECT_FALSE(contains(html, "<svg"));
}

TEST(InlineSvg, TakesThePagesInkAndLeavesTextAlone) {
    Figure figure = figure_of("f");
    figure.plot.series[0].label = "say id=\"x\" or rgb(38,44,56)";
    const std::string svg = inline_svg(plot_svg(figure.plot), "p-", "a \"label\"");
    EXPECT_EQ(svg.substr(0, 4), "<svg");
    EXPECT_TRUE(contains(svg, "aria-label=\"a &quot;label&quot;\""));
    EXPECT_TRUE(contains(svg, "say id=\"x\" or rgb(38,44,56)"));
    EXPECT_TRUE(contains(svg, "stroke='var(--ink)'"));
    EXPECT_TRUE(contains(svg, "fill=\"var(--ink)\""));
    EXPECT_FALSE(contains(svg, "rgb( 38,  44,  56)"));
    EXPECT_FALSE(contains(svg, "<title>"));
}

TEST(TableText, AlignsByCharactersNotBytes) {
    const Table table{{{"method", false}, {"µs", true}},
                      {{{"pibinn", "−1.5"}, true}, {{"größer", "20"}, false}}};
    EXPECT_EQ(table_text(table),
              "  method    µs\n"
              "  ------  ----\n"
              "* pibinn  −1.5\n"
              "  größer    20\n");
}

TEST(TableText, PutsTextFirstAndNumbersFlushRight) {
    Table table = Table::of({"method", "bits"});
    table.add({"OMP", grouped(160000)});
    table.add({"one-bit", "80"}, false);
    EXPECT_EQ(table_text(table),
              "method      bits\n"
              "-------  -------\n"
              "OMP      160,000\n"
              "one-bit       80\n");
    EXPECT_THROW(table.add({"too few"}), Error);
}

TEST(TableText, BreaksTitlesThatAreWiderThanTheirCells) {
    Table table =
        Table::of({"a long title of the first column", "batch time, us per signal", "bits"});
    table.add({"a cell of twenty-four ch", "1.5", "7"});
    EXPECT_EQ(table_text(table, 11),
              "                          batch time,\n"
              "a long title of the            us per\n"
              "first column                   signal  bits\n"
              "------------------------  -----------  ----\n"
              "a cell of twenty-four ch          1.5     7\n");
    EXPECT_TRUE(contains(table_text(table), "batch time, us per signal  bits\n"));
}

TEST(Numbers, ReadAsPeopleWriteThem) {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(decimal(-19.616, 2), "−19.62");
    EXPECT_EQ(decimal(-0.001, 2), "0.00");
    EXPECT_EQ(decimal(nothing, 2), "–");
    EXPECT_EQ(rounded(0.012345), "0.0123");
    EXPECT_EQ(rounded(12.345), "12.3");
    EXPECT_EQ(rounded(12345), "12345");
    EXPECT_EQ(rounded(0), "0.00");
    EXPECT_EQ(rounded(1.5e-7), "1.50e-07");
    EXPECT_EQ(rounded(nothing), "–");
    EXPECT_EQ(grouped(7), "7");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(100640), "100,640");
    EXPECT_EQ(grouped(1234567), "1,234,567");
    EXPECT_EQ(bytes_of_bits(9), "2 B");
    EXPECT_EQ(bytes_of_bits(100640), "12.6 kB");
    EXPECT_EQ(bytes_of_bits(8000000), "1.00 MB");
}

TEST(Numbers, SpreadIsMeanAndSampleDeviation) {
    const std::vector<double> values{-20, -22, -24};
    const Spread s = spread(values);
    EXPECT_DOUBLE_EQ(s.mean, -22);
    EXPECT_DOUBLE_EQ(s.deviation, 2);
    EXPECT_EQ(decimal(s, 1), "−22.0 ± 2.0");
    EXPECT_EQ(decimal(spread(std::span(values).first(1)), 1), "−20.0");
    EXPECT_EQ(decimal(spread({}), 1), "–");
}

}  // namespace
}  // namespace pibinn
