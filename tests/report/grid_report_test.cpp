#include "report/grid_report.hpp"

#include <gtest/gtest.h>

#include "report/helpers.hpp"

namespace pibinn {
namespace {

GridReport two_by_two() {
    GridReport report;
    report.keys = {"model.weights", "model.layers"};
    for (const char* weights : {"one-bit", "float"})
        for (const char* layers : {"5", "10"}) {
            GridRow row;
            row.values = {weights, layers};
            row.train_nmse_db = row.test_nmse_db = row.test_energy_nmse_db =
                row.test_median_nmse_db = Spread{-10.5, 0.25, 3};
            row.bits_total = 1234;
            row.folder = "f";
            report.rows.push_back(row);
        }
    report.rows[3].test_nmse_db = {};
    report.rows[3].note = "3 of 3 seeds failed: training diverged";
    report.seeds = 3;
    return report;
}

TEST(GridReport, ATableHasARowPerCombination) {
    const std::string text = table_text(grid_table(two_by_two()));
    EXPECT_EQ(count(text, "−10.50 ± 0.25"), 15u) << text;
    EXPECT_TRUE(contains(text, "training diverged"));
    const std::string csv = grid_csv(two_by_two());
    EXPECT_EQ(count(csv, "\n"), 5u);
    EXPECT_TRUE(contains(csv, "\"one-bit\",\"5\",3,-10.5,0.25,")) << csv;
}

TEST(GridReport, TheFigureHasACurvePerCombinationOfTheOtherKeys) {
    const auto figure = grid_figure(two_by_two());
    ASSERT_TRUE(figure);
    EXPECT_EQ(figure->plot.x.label, "model.layers");
    ASSERT_EQ(figure->plot.series.size(), 2u);
    EXPECT_EQ(figure->plot.series[0].label, "one-bit");
    EXPECT_EQ(figure->plot.series[0].x, (std::vector<double>{5, 10}));
    EXPECT_EQ(figure->plot.series[1].x, (std::vector<double>{5}));  // the other one failed
}

TEST(GridReport, WithoutNumbersThereIsNoFigure) {
    GridReport report = two_by_two();
    for (GridRow& row : report.rows) row.values[1] = "soft";
    EXPECT_FALSE(grid_figure(report));
    EXPECT_TRUE(contains(grid_page(report), "one-bit"));
}

}  // namespace
}  // namespace pibinn
