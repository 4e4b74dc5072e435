#include "report/comparison_table.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "report/helpers.hpp"

namespace pibinn {
namespace {

std::vector<ComparisonRow> two_rows() {
    return {
        {"OMP", {-150.5, -151, -152, 1, 1000, 0}, {3.25, 1.5, 1000, 2}, 160000, false},
        {"one-bit network", {-20, -19, -21.5, 0.9, 1000, 0}, {0.625, 0.5, 1000, 2}, 51000, true}};
}

TEST(ComparisonTable, GivesEveryMethodItsErrorsBothTimesAndItsSize) {
    const std::vector<ComparisonRow> rows = two_rows();
    const Table table = comparison_table(rows);
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[0].cells,
              (std::vector<std::string>{"OMP", "−150.50", "−151.00", "−152.00", "3.25", "1.50",
                                        "160,000", "20.0 kB"}));
    EXPECT_FALSE(table.rows[0].highlight);
    EXPECT_TRUE(table.rows[1].highlight);
    EXPECT_EQ(table.columns[4].title, "latency, us");
    EXPECT_EQ(table.columns[5].title, "batch time, us per signal");
    for (const Table::Column& column : table.columns) EXPECT_NE(column.title, "");
}

TEST(ComparisonTable, ExplainsItsTimesOnceBelow) {
    const std::vector<ComparisonRow> rows = two_rows();
    const std::string text = comparison_text(rows);
    EXPECT_TRUE(text.ends_with(
        "latency: one signal alone, one thread; batch time: per signal of 1000 signals over 2 "
        "threads\n"))
        << text;
    EXPECT_TRUE(contains(text, "* one-bit network")) << text;
    EXPECT_FALSE(contains(comparison_text({}), "thread"));
}

TEST(ComparisonTable, ShowsWhatIsNotANumberAsADash) {
    std::vector<ComparisonRow> rows = two_rows();
    rows[0].metrics.nmse_db = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(comparison_table(rows).rows[0].cells[1], "–");
}

TEST(ComparisonTable, LeavesALineOfATerminalToItsLongestMethod) {
    const std::string method = "one-bit network, 10 layers, trained";
    std::vector<ComparisonRow> rows = two_rows();
    rows[1].method = method;
    const std::string text = comparison_text(rows);
    EXPECT_LE(text.find('\n'), method.size() + 71) << text;
}

TEST(ComparisonTable, ABoundIsNeitherTimedNorStored) {
    std::vector<ComparisonRow> rows = two_rows();
    rows.push_back({"oracle", {-30, -31, -32, 1, 1000, 0}, {}, 0, false, true});
    EXPECT_EQ(
        comparison_table(rows).rows[2].cells,
        (std::vector<std::string>{"oracle", "−30.00", "−31.00", "−32.00", "–", "–", "–", "–"}));
    rows.erase(rows.begin(), rows.begin() + 2);
    EXPECT_EQ(times_note(rows), "");
}

TEST(ComparisonTable, SaysWhoWasJudgedByFewerSignals) {
    std::vector<ComparisonRow> rows = two_rows();
    EXPECT_EQ(fewer_signals_note(rows), "");
    rows[0].metrics.signals = 250;
    rows[0].time.batch = 250;
    EXPECT_EQ(fewer_signals_note(rows),
              "To save time, judged by the first of the 1,000 test signals only: OMP (250).");
    const std::string text = comparison_text(rows);
    EXPECT_TRUE(contains(text, fewer_signals_note(rows))) << text;
    EXPECT_TRUE(contains(text, "per signal of 1000 signals")) << text;
}

TEST(ComparisonTable, TellsWhatTrainingSignalsChose) {
    std::vector<ComparisonRow> rows = two_rows();
    EXPECT_EQ(settings_note(rows), "");
    rows[0].settings = "stops at 8 columns";
    rows[1].settings = "alpha 1.2";
    rows[1].note = "A note.";
    EXPECT_EQ(settings_note(rows),
              "Chosen on training signals: OMP: stops at 8 columns; one-bit network: alpha 1.2.");
    EXPECT_EQ(row_notes(rows), "A note.");
}

}  // namespace
}  // namespace pibinn
