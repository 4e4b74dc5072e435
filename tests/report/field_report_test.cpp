#include "report/field_report.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "report/helpers.hpp"

namespace pibinn {
namespace {

using Kind = FieldRow::Kind;

FieldRow row(Kind kind, const std::string& method, const std::string& ensemble, std::size_t layers,
             std::optional<double> snr_db, double nmse_db, std::size_t bits = 0,
             double latency_us = 0) {
    FieldRow r;
    r.kind = kind;
    r.method = method;
    r.ensemble = ensemble;
    r.n = 500;
    r.layers = layers;
    r.snr_db = snr_db;
    r.energy_nmse_db = {nmse_db, 0, 1};
    r.bits = bits;
    r.time = {latency_us, latency_us / 2, 1000, 2};
    r.signals = kind == Kind::published ? 0 : 1000;
    return r;
}

FieldReport small_field() {
    FieldReport report;
    report.m = 250;
    for (const std::size_t layers : {8, 16})
        for (const double snr : {20.0, 40.0})
            report.rows.push_back(row(Kind::network, "tied", "rademacher", layers, snr,
                                      -snr - static_cast<double>(layers) / 8, 130'000 + layers,
                                      2.0 * static_cast<double>(layers)));
    report.rows.push_back(row(Kind::network, "tied", "rademacher", 4, 20, -15, 127'000, 9));
    report.rows.push_back(row(Kind::network, "tied", "rademacher", 16, {}, -64, 130'016, 30));
    report.rows.push_back(row(Kind::network, "float", "gaussian", 16, 20, -21.5, 68'000'000, 900));
    report.rows.push_back(row(Kind::reference, "FISTA", "rademacher", 16, 20, -16, 125'064, 500));
    report.rows.push_back(row(Kind::reference, "FISTA", "rademacher", 8, 20, -15.5, 125'064, 250));
    report.rows.push_back(
        row(Kind::reference, "FISTA", "rademacher", 100, 20, -17.6, 125'064, 3e3));
    report.rows.push_back(
        row(Kind::reference, "linear MMSE", "rademacher", 0, 20, -2.9, 4'000'000, 40));
    report.rows.push_back(row(Kind::bound, "oracle", "rademacher", 0, 20, -25.9));
    report.rows.push_back(row(Kind::published, "ALISTA", "gaussian", 16, 20, -21.08));
    report.rows.push_back(row(Kind::published, "ALISTA-AT", "gaussian", 16, 20, -21.80));
    report.rows.push_back(row(Kind::published, "ALISTA", "gaussian", 16, 40, -35.5));
    report.rows.back().source = 1;
    report.trainings = {{"tied", "rademacher", 500, 16, "20 dB", "tune 125", 60, "pibinn train"}};
    report.sources = {"training logs", "charts"};
    report.machine = "a machine";
    report.date = "2026-01-02";
    report.command = "pibinn field --out DIR";
    report.version = "0";
    return report;
}

std::vector<std::string> cells_of(const Table& table, const std::string& method) {
    for (const Table::Row& r : table.rows)
        if (r.cells.front() == method) return r.cells;
    return {};
}

const FieldTable* table_named(const std::vector<FieldTable>& tables, const std::string& heading) {
    for (const FieldTable& table : tables)
        if (table.heading == heading) return &table;
    return nullptr;
}

TEST(FieldReport, EverySizeDepthAndOperatorHasATableWithItsOwnMethods) {
    const std::vector<FieldTable> tables = field_tables(small_field());
    const FieldTable* signs = table_named(tables, "250 × 500, 16 layers, operator: signs");
    const FieldTable* gaussian = table_named(tables, "250 × 500, 16 layers, operator: Gaussian");
    ASSERT_TRUE(signs && gaussian);
    EXPECT_EQ(cells_of(signs->table, "tied"),
              (std::vector<std::string>{"tied", "−22.00", "−42.00", "−64.00", "130,016", "32.0",
                                        "16.0"}));
    EXPECT_FALSE(cells_of(signs->table, "FISTA, 16 iterations").empty());
    EXPECT_FALSE(cells_of(signs->table, "FISTA, 100 iterations").empty());
    EXPECT_TRUE(cells_of(signs->table, "FISTA, 8 iterations").empty());
    EXPECT_TRUE(cells_of(signs->table, "float").empty());
    EXPECT_FALSE(cells_of(gaussian->table, "float").empty());
    EXPECT_TRUE(table_named(tables, "250 × 500, 8 layers, operator: signs"));
}

TEST(FieldReport, ADepthAtOneNoiseStandsInTheTableByDepthAlone) {
    const FieldReport report = small_field();
    EXPECT_FALSE(table_named(field_tables(report), "250 × 500, 4 layers, operator: signs"));
    EXPECT_EQ(cells_of(depth_table(report), "tied"),
              (std::vector<std::string>{"tied", "signs", "−15.00", "−21.00", "−22.00"}));
    EXPECT_EQ(cells_of(depth_table(report), "ALISTA [1]"),
              (std::vector<std::string>{"ALISTA [1]", "Gaussian", "–", "–", "−21.08"}));
}

TEST(FieldReport, PublishedFiguresNameTheirSourceAndBoundsHaveNeitherBitsNorTimes) {
    const FieldReport report = small_field();
    const std::vector<FieldTable> tables = field_tables(report);
    const Table& gaussian = table_named(tables, "250 × 500, 16 layers, operator: Gaussian")->table;
    EXPECT_EQ(cells_of(gaussian, "ALISTA [1]"),
              (std::vector<std::string>{"ALISTA [1]", "−21.08", "–", "–", "–", "–", "–"}));
    EXPECT_EQ(cells_of(gaussian, "ALISTA [2]"),
              (std::vector<std::string>{"ALISTA [2]", "–", "−35.50", "–", "–", "–", "–"}));
    const Table& signs = table_named(tables, "250 × 500, 16 layers, operator: signs")->table;
    EXPECT_EQ(cells_of(signs, "oracle"),
              (std::vector<std::string>{"oracle", "−25.90", "–", "–", "–", "–", "–"}));
    const std::string text = field_text(report);
    EXPECT_EQ(count(text, "[1] training logs\n"), 1u) << text;
    EXPECT_EQ(count(text, "[2] charts\n"), 1u) << text;
}

TEST(FieldReport, WithoutPublishedFiguresNoSourceIsNamed) {
    FieldReport report = small_field();
    std::erase_if(report.rows, [](const FieldRow& r) { return r.kind == Kind::published; });
    const std::string text = field_text(report);
    EXPECT_FALSE(contains(text, "training logs")) << text;
    EXPECT_TRUE(contains(text, "Published figures are of 250 × 500")) << text;
}

TEST(FieldReport, FewerSignalsAreTold) {
    FieldReport report = small_field();
    EXPECT_FALSE(contains(field_text(report), "Judged by"));
    report.rows[8].signals = 50;
    EXPECT_TRUE(contains(field_text(report),
                         "Judged by the first of 1000 test signals only: FISTA at n = 500 (50)."))
        << field_text(report);
}

TEST(FieldReport, AFigureIsScaledToTheNetworksAndTellsWhatItLeavesOut) {
    const std::vector<Figure> figures = trade_figures(small_field());
    ASSERT_EQ(figures.size(), 4u);
    EXPECT_TRUE(contains(figures[0].heading, "size, 250 × 500, 20 dB")) << figures[0].heading;
    EXPECT_TRUE(contains(figures[3].heading, "latency, 250 × 500, 40 dB")) << figures[3].heading;
    EXPECT_TRUE(contains(figures[0].caption, "not drawn: linear MMSE.")) << figures[0].caption;
    for (const Figure& figure : figures) {
        EXPECT_FALSE(figure.plot.x.label.empty());
        EXPECT_EQ(figure.plot.y.label, "energy nmse (dB)");
        for (const Series& series : figure.plot.series) EXPECT_NE(series.label, "linear MMSE");
    }
}

TEST(FieldReport, TheFrontIsThatOfBitsAndErrorOfAllMethods) {
    const Figure figure = trade_figures(small_field()).front();
    const Series& front = figure.plot.series.front();
    EXPECT_EQ(front.label, "front of all");
    EXPECT_EQ(front.x, (std::vector<double>{125'064, 130'008, 130'016}));
    EXPECT_EQ(front.y, (std::vector<double>{-17.6, -21, -22}));
}

TEST(FieldReport, CurvesRunByRisingDepthAndNoise) {
    const std::vector<Figure> figures = depth_figures(small_field());
    ASSERT_EQ(figures.size(), 2u);
    const Series& depth = figures[0].plot.series.front();
    EXPECT_EQ(depth.label, "tied, signs");
    EXPECT_EQ(depth.x, (std::vector<double>{4, 8, 16}));
    EXPECT_EQ(depth.y, (std::vector<double>{-15, -21, -22}));
    const Series& noise = figures[1].plot.series.front();
    EXPECT_EQ(noise.x, (std::vector<double>{20, 40}));  // no noise has no place on the axis
    EXPECT_EQ(figures[1].plot.x.label, "signal-to-noise ratio (dB)");
    const auto best =
        std::find_if(figures[0].plot.series.begin(), figures[0].plot.series.end(),
                     [](const Series& s) { return s.label.starts_with("best published"); });
    ASSERT_NE(best, figures[0].plot.series.end());
    EXPECT_EQ(best->y, (std::vector<double>{-21.80}));
}

TEST(FieldReport, ThePageHasTablesFiguresSourcesAndTheCommand) {
    const std::string page = field_report(small_field());
    for (const char* word :
         {"The field&#39;s benchmark", "best published: −21.8 dB (ALISTA-AT); oracle: −25.9 dB",
          "130,016", "[2] charts", "tune 125", "pibinn field --out DIR", "a machine", "2026-01-02",
          "ALISTA [1]"})
        EXPECT_TRUE(contains(page, word)) << word;
}

TEST(FieldReport, NothingMakesAPageToo) {
    EXPECT_TRUE(field_tables({}).empty());
    EXPECT_TRUE(depth_figures({}).empty());
    EXPECT_TRUE(contains(field_report({}), "The field"));
}

}  // namespace
}  // namespace pibinn
