#include "report/reproduction_report.hpp"

#include <gtest/gtest.h>

#include "report/helpers.hpp"

namespace pibinn {
namespace {

ReproductionReport small() {
    ReproducedTable table;
    table.id = "table1";
    table.title = "Depth";
    table.source = "Table 1";
    table.protocol = "50 x 100";
    table.command = "pibinn reproduce table1 --out DIR";
    table.open = {"Epochs are not given."};
    table.differs = {"It is better here."};
    table.quantities = {{"test_nmse_db", "test nmse dB", 2}, {"bits_paper", "bits", 0}};
    ReproducedRow met;
    met.label = "one-bit, 5 | layers";
    met.numbers = {{-4.94, Spread{-9.46, 0.14, 5}, Spread{-18.3, 0.2, 5}},
                   {25160, Spread{25160, 0, 5}, {}}};
    met.paper = met.ours = Agreement::better;
    met.paper_difference = -4.52;
    met.our_difference = -13.36;
    ReproducedRow absent;
    absent.label = "dense";
    absent.numbers = {{-17.06, {}, {}}, {{}, {}, {}}};
    absent.paper = Agreement::absent;
    absent.note = "needs a GPU";
    table.rows = {met, absent};
    table.seeds = 5;
    Plot plot;
    plot.series.push_back({"ours", {5, 10}, {-9, -14}});
    table.figures = {{"figure-1", {"Figure 1", plot, "Caption."}}};
    ReproductionReport report;
    report.tables = {table};
    report.claims = {
        {"table1", "Deeper is better.", "-14 against -9", ReproducedClaim::Verdict::holds}};
    report.seeds = 5;
    report.trainings = 10;
    report.command = "pibinn reproduce --out DIR";
    report.version = "0";
    return report;
}

TEST(ReproductionReport, TheTableHasAllNumbersBesideThePublishedOnes) {
    const std::string text = table_text(reproduced_table(small().tables[0]));
    for (const char* word : {"−4.94 / 25,160", "−9.46 ± 0.14 / 25,160", "better (−4.52)",
                             "−18.30 ± 0.20 / –", "not run", "needs a GPU"})
        EXPECT_TRUE(contains(text, word)) << word << "\n" << text;
}

TEST(ReproductionReport, AColumnThatNoRowFillsIsLeftOut) {
    ReproductionReport report = small();
    report.tables[0].has_ours = false;
    EXPECT_FALSE(contains(table_text(reproduced_table(report.tables[0])), "recipe default"));
}

TEST(ReproductionReport, VerdictsAreCountedPerTableAndRecipe) {
    const Table table = verdict_table(small());
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].cells,
              (std::vector<std::string>{"table1", "paper", "–", "1", "–", "–", "–", "1"}));
    EXPECT_EQ(table.rows[1].cells[3], "1");
    EXPECT_EQ(table.rows[1].cells[7], "–");
}

TEST(ReproductionReport, MarkdownAndCsvTellTheSameNumbers) {
    const ReproductionReport report = small();
    const std::string markdown = reproduced_markdown(report.tables[0], report);
    for (const char* word :
         {"# Depth", "one-bit, 5 \\| layers", "**Known to differ.**", "figures/figure-1.svg",
          "- Epochs are not given.", "5 seeds unless a row says another number"})
        EXPECT_TRUE(contains(markdown, word)) << word << "\n" << markdown;
    const std::string csv = reproduced_csv(report.tables[0]);
    EXPECT_EQ(count(csv, "\n"), 5u);
    EXPECT_TRUE(contains(csv,
                         "table1,\"one-bit, 5 | layers\",test_nmse_db,-4.94,-9.46,0.14,5,-18.3,"
                         "0.2,5,better,better"))
        << csv;
    EXPECT_TRUE(contains(csv, "\"dense\",test_nmse_db,-17.06,,,,,,,not run")) << csv;
    const std::string summary = summary_markdown(report);
    EXPECT_TRUE(contains(summary, "| Deeper is better. | holds | -14 against -9 |")) << summary;
    EXPECT_TRUE(contains(summary, "tables/table1.md"));
}

TEST(ReproductionReport, ProseOfMarkdownEndsAtAHundredLetters) {
    ReproductionReport report = small();
    report.tables[0].protocol = std::string(60, 'a') + " " + std::string(60, 'b');
    report.tables[0].open = {std::string(90, 'c') + " " + std::string(90, 'd')};
    const std::string text = reproduced_markdown(report.tables[0], report);
    EXPECT_TRUE(contains(text, "\n" + std::string(60, 'b') + "\n")) << text;
    EXPECT_TRUE(contains(text, "\n- " + std::string(90, 'c') + "\n  " + std::string(90, 'd')));
}

TEST(ReproductionReport, ThePageHoldsVerdictsClaimsTablesAndFigures) {
    const std::string page = reproduction_page(small());
    for (const char* word : {"met by recipe paper", "Claims in words", "Deeper is better.", "<svg",
                             "Known to differ: It is better here.", "Protocol: 50 x 100",
                             "pibinn reproduce table1 --out DIR"})
        EXPECT_TRUE(contains(page, word)) << word;
    EXPECT_FALSE(contains(page, "quick run"));
    ReproductionReport quick = small();
    quick.quick = true;
    EXPECT_TRUE(contains(reproduction_page(quick), "says nothing of the paper"));
}

TEST(ReproductionReport, WithoutGnuplotThePageStays) {
    const WithoutPrograms none;
    EXPECT_TRUE(contains(reproduction_page(small()), "No plot"));
}

}  // namespace
}  // namespace pibinn
