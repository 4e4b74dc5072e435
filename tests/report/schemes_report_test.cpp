#include "report/schemes_report.hpp"

#include <gtest/gtest.h>

#include "report/helpers.hpp"

namespace pibinn {
namespace {

SchemeRow row(const std::string& scheme, const std::string& structure, double train, double test,
              std::size_t bits) {
    SchemeRow r;
    r.scheme = scheme;
    r.structure = structure;
    r.train_nmse_db = {train, 0, 1};
    r.test_nmse_db = {test, 0, 1};
    r.links = 5000;
    r.bits.paper = bits / 2;
    r.bits.total = bits;
    return r;
}

SchemesReport three_networks() {
    SchemesReport report;
    report.rows = {row("one-bit", "repeated", -20.5, -20, 1000),
                   row("ternary", "dense", -21, -15, 8000),
                   row("one-bit-channel", "dense", -30, -22, 4000)};
    report.rows[0].ours = true;
    for (SchemeRow& r : report.rows) r.time = {1.25, 0.75, 500, 4};
    report.rows[1].sparsity = 0.5;
    report.rows[1].overlap = 0.625;
    report.references = {{"OMP", {-150, 0, 1}, {3, 2, 500, 4}, 900},
                         {"linear", {-3, 0, 1}, {1, 0.5, 500, 4}, 2000}};
    report.command = "pibinn compare c.toml";
    report.version = "0";
    return report;
}

TEST(SchemesReport, TheFrontIsOfNetworksByBitsInAll) {
    EXPECT_EQ(networks_front(three_networks()), (std::vector<std::size_t>{0, 2}));
}

TEST(SchemesReport, TheTableHasGapSparsityAndOverlap) {
    const std::string text = table_text(schemes_table(three_networks()));
    for (const char* word : {"gap, dB", "0.50", "6.00", "8.00", "62.5", "50.0", "8,000", "4,000"})
        EXPECT_TRUE(contains(text, word)) << word << "\n" << text;
    EXPECT_TRUE(contains(text, "* one-bit ")) << text;
}

TEST(SchemesReport, TheTextLabelsBothTimesOfNetworksAndReferencesAndExplainsThemOnce) {
    const std::string text = schemes_text(three_networks());
    EXPECT_EQ(count(text, "latency,"), 2u) << text;
    EXPECT_EQ(count(text, "time, us"), 2u) << text;
    EXPECT_EQ(count(text, "batch time: per signal of 500 signals over 4 threads\n"), 1u) << text;
    EXPECT_TRUE(contains(text, "* the PIBiNN: one bit per link")) << text;
    EXPECT_TRUE(contains(text, "1.25")) << text;
    EXPECT_TRUE(contains(text, "0.750")) << text;
}

TEST(SchemesReport, ABoundHasErrorsButNeitherTimesNorBitsNorAPlaceInTheFigure) {
    SchemesReport report = three_networks();
    report.references.push_back({"oracle", {-40, 0, 1}, {}, 0, {-41, 0, 1}, {-42, 0, 1}, true});
    const Table table = references_table(report);
    EXPECT_EQ(table.rows[2].cells,
              (std::vector<std::string>{"oracle", "−40.00", "−41.00", "−42.00", "–", "–", "–"}));
    const Figure figure = pareto_figure(report);
    for (const Series& series : figure.plot.series) EXPECT_NE(series.label, "oracle");
    EXPECT_FALSE(contains(figure.caption, "oracle"));
    EXPECT_TRUE(contains(schemes_csv(report), "reference,\"oracle\",,,-40,0,,,,,,,,,,-42,-41\n"))
        << schemes_csv(report);
}

TEST(SchemesReport, SaysBelowTheReferencesByHowManySignalsTheyAreJudged) {
    SchemesReport report = three_networks();
    EXPECT_FALSE(contains(schemes_text(report), "Judged by"));
    report.references_note = "Judged by the first 50 of 500 test signals: OMP.";
    EXPECT_EQ(count(schemes_text(report), report.references_note + "\n"), 1u);
    EXPECT_EQ(count(schemes_report(report), report.references_note), 1u);
}

TEST(SchemesReport, TablesShowMedians) {
    SchemesReport report = three_networks();
    report.rows[0].test_median_nmse_db = {-23.45, 0, 1};
    report.references[0].median_nmse_db = {-155.5, 0, 1};
    const std::string text = schemes_text(report);
    EXPECT_EQ(count(text, "median,"), 2u) << text;
    EXPECT_TRUE(contains(text, "−23.45")) << text;
    EXPECT_TRUE(contains(text, "−155.50")) << text;
}

TEST(SchemesReport, VerdictsSayWhoIsBetterEitherWay) {
    SchemesReport report = three_networks();
    report.rows.push_back(row("ternary", "repeated", -20, -19.5, 1500));
    const std::vector<std::string> sentences = verdicts(report);
    ASSERT_EQ(sentences.size(), 3u);
    EXPECT_EQ(sentences[0],
              "one-bit on repeated against ternary on dense: test nmse 5.00 dB better, gap 0.50 dB "
              "against 6.00 dB, 500 bits against 4,000 the paper's way.");
    EXPECT_TRUE(
        contains(sentences[1], "against one-bit-channel on dense: test nmse 2.00 dB worse"));
    EXPECT_TRUE(contains(sentences[2], "against ternary on repeated: test nmse 0.50 dB better"));
    SchemesReport dense = three_networks();
    dense.rows[0].structure = "dense";
    EXPECT_TRUE(verdicts(dense).empty());
}

TEST(SchemesReport, ThePictureHasAMarkForEveryMethodAndALineForTheFront) {
    SchemesReport report = three_networks();
    report.rows.push_back(row("ternary", "repeated", 40, 40, 2000));
    const Figure figure = pareto_figure(report);
    const auto& series = figure.plot.series;
    ASSERT_EQ(series.size(), 1u + 4 + 2);
    EXPECT_EQ(series[0].style, Series::Style::line);
    EXPECT_EQ(series[0].x, (std::vector<double>{1000, 4000}));
    EXPECT_EQ(series[0].y, (std::vector<double>{-20, -22}));
    EXPECT_EQ(series[2].mark, series[4].mark);  // ternary twice
    EXPECT_NE(series[1].mark, series[2].mark);
    EXPECT_EQ(series[1].color, series[4].color);  // repeated twice
    EXPECT_NE(series[1].color, series[2].color);
    EXPECT_EQ(figure.plot.x.scale, Axis::Scale::log);
    // What would squeeze the networks together stands at the border, with its value.
    EXPECT_EQ(series[4].y[0], 5.0);
    EXPECT_EQ(series[4].label, "ternary, repeated (40.0 dB)");
    EXPECT_EQ(series[5].y[0], -42.0);
    EXPECT_EQ(series[5].label, "OMP (−150.0 dB)");
    EXPECT_EQ(series[6].label, "linear");
    EXPECT_TRUE(contains(figure.caption, "OMP"));
    EXPECT_FALSE(contains(figure.caption, "linear"));
}

TEST(SchemesReport, CsvHasALineForEveryMethodWithAsManyCells) {
    const std::string csv = schemes_csv(three_networks());
    EXPECT_EQ(count(csv, "\n"), 6u);
    EXPECT_TRUE(contains(csv, ",0.75,0,1.25,")) << csv;
    EXPECT_TRUE(contains(csv, ",2,,3,")) << csv;
    EXPECT_TRUE(contains(csv, "network,ternary,dense,-21,-15,0,6,5000,4000,8000,0.5,0.625,"));
    std::size_t commas = 0;
    for (std::size_t at = 0; at < csv.size();) {
        const std::size_t end = csv.find('\n', at);
        const std::size_t here = count(csv.substr(at, end - at), ",");
        EXPECT_TRUE(at == 0 || here == commas) << csv.substr(at, end - at);
        commas = here;
        at = end + 1;
    }
}

TEST(SchemesReport, ThePageHoldsTablesPictureAndCommand) {
    const std::string html = schemes_report(three_networks());
    for (const char* word :
         {"one-bit-channel", "62.5", "<svg", "pibinn compare c.toml", "front of the networks",
          "dB better", "latency, us", "Times: latency: one signal alone, one thread;"})
        EXPECT_TRUE(contains(html, word)) << word;
    EXPECT_EQ(count(html, "<table>"), 3u);
}

}  // namespace
}  // namespace pibinn
