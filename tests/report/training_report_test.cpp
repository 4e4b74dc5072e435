#include "report/training_report.hpp"

#include <array>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "report/helpers.hpp"
#include "report/training_plots.hpp"

namespace pibinn {
namespace {

SeedReport seed_report(std::uint64_t seed, double test_nmse_db) {
    SeedReport s;
    s.seed = seed;
    s.test = {test_nmse_db, -18, -21, 0.9, 1000, 0};
    s.train = {test_nmse_db - 1.5, -20, -23, 0.95, 4000, 0};
    s.train_nmse_db_per_layer = {-5, -11, -21};
    s.test_nmse_db_per_layer = {-4, -10, test_nmse_db};
    s.history = {{0, 1, 1e-3, 1.0, -3},
                 {0, 2, 1e-3, 0.5, -3},
                 {1, 3, 1e-3, 0.3, -9},
                 {1, 4, 1e-3, 0.2, -9},
                 {1, 5, 1e-3, 0.1, test_nmse_db}};
    s.seconds = {{"pretrain", 1.25}, {"joint", 2.5}};
    s.theta = {0.3F, 0.2F, 0.1F};
    return s;
}

TrainingReport sample(std::vector<SeedReport> seeds) {
    TrainingReport r;
    r.problem = "Sparse signals without noise";
    r.structure = StructureKind::repeated;
    r.m = 500;
    r.n = 1000;
    r.repeat = 10;
    r.spec.layers = 3;
    r.recipe = {.name = "default", .stages = {Stage{.name = "pretrain"}, Stage{.name = "joint"}}};
    r.links = 15000;
    r.bits.paper = 15096;
    r.bits.total = 175128;
    r.seeds = std::move(seeds);
    r.signals = {{"Test signal 1", {0, 1, 0, -2}, {0, 0.9F, 0.1F, -1.8F}}};
    r.comparison = {
        {"Orthogonal pursuit", {-40.25, -39, -41, 1, 1000, 0}, {7.89, 4.5, 1000, 2}, 160000, false},
        {"pibinn", {-20, -18, -21, 0.9, 1000, 0}, {12.34, 5.67, 1000, 2}, 175128, true}};
    r.command = "pibinn train --out run";
    r.version = "1.2.3";
    return r;
}

TEST(TrainingReport, TellsEverythingOfARun) {
    const std::string html = training_report(sample({seed_report(7, -20)}));
    for (const char* text : {"A one-bit unrolled network of 3 layers",
                             "500 × 1000 repeated",
                             "50 × 100 block, 10 times",
                             "<li>3 layers</li>",
                             "one-bit weights",
                             "accelerated update",
                             "recipe default",
                             "seed 7",
                             "Sparse signals without noise",
                             "Test nmse",
                             "−20.00",
                             "Training nmse",
                             "−21.50",
                             "Gap",
                             "1.50",
                             "15,096",
                             "1.89 kB",
                             "175,128",
                             "21.9 kB",
                             "15,000",
                             "Latency",
                             "12.3",
                             "one signal alone, one thread",
                             "Batch time",
                             "5.67",
                             "of 1000 signals over 2 threads",
                             "Learning curve",
                             "Training loss",
                             "Test error",
                             "Error after each layer",
                             "Thresholds",
                             "Recovered signals",
                             "Test signal 1",
                             "Beside what you would pick instead",
                             "Orthogonal pursuit",
                             "−40.25",
                             "How it was made",
                             "pretrain",
                             "pibinn train --out run",
                             "pibinn 1.2.3"})
        EXPECT_TRUE(contains(html, text)) << text;
    EXPECT_EQ(count(html, "<svg"), 5u);
    EXPECT_EQ(count(html, "class=\"highlight\""), 1u);
    EXPECT_EQ(count(html, "<section>"), count(html, "</section>"));
    EXPECT_FALSE(contains(html, "±"));
    EXPECT_FALSE(contains(html, "Momentum"));
}

TEST(TrainingReport, GivesMeanAndDeviationOfSeveralSeeds) {
    const std::string html = training_report(sample({seed_report(1, -20), seed_report(2, -22)}));
    EXPECT_TRUE(contains(html, "seeds 1, 2"));
    EXPECT_TRUE(contains(html, "−21.00 ± 1.41"));
    EXPECT_TRUE(contains(html, "<h2>Seeds</h2>"));
}

TEST(TrainingReport, NeedsNothingFromOutside) {
    std::string html = training_report(sample({seed_report(1, -20)}));
    html = std::regex_replace(html, std::regex(" xmlns(:xlink)?=\"http://www.w3.org/[^\"]*\""), "");
    for (const char* text : {"http:", "https:", "src=", "<link", "<script", "@import", "url(http"})
        EXPECT_FALSE(contains(html, text)) << text;
}

TEST(TrainingReport, IsWrittenWithoutGnuplot) {
    const WithoutPrograms without;
    const std::string html = training_report(sample({seed_report(1, -20)}));
    EXPECT_EQ(count(html, "gnuplot not found; install gnuplot-nox"), 5u);
    EXPECT_TRUE(contains(html, "−20.00"));
    EXPECT_TRUE(contains(html, "</html>"));
}

TEST(TrainingReport, OfNothingIsStillAPage) {
    const std::string html = training_report(TrainingReport{});
    EXPECT_TRUE(contains(html, "no data"));
    EXPECT_TRUE(contains(html, "</html>"));
}

TEST(TrainingReport, SaysThatTheNetworkWasNotTimedByDashes) {
    TrainingReport report = sample({seed_report(7, -20)});
    report.comparison.pop_back();
    EXPECT_EQ(count(training_report(report), "<div class=\"value\">– "), 2u);
    report = sample({seed_report(7, -20)});
    EXPECT_FALSE(contains(training_report(report), "<div class=\"value\">– "));
}

TEST(TrainingPlots, MarkTheStagesAndDropUnmeasuredEpochs) {
    const std::vector<Figure> figures = learning_curves(sample({seed_report(1, -20)}));
    ASSERT_EQ(figures.size(), 2u);
    const Plot& loss = figures[0].plot;
    EXPECT_EQ(loss.y.scale, Axis::Scale::log);
    ASSERT_EQ(loss.lines.size(), 2u);
    EXPECT_EQ(loss.lines[0].label, "pretrain");
    EXPECT_EQ(loss.lines[1].label, "joint");
    EXPECT_EQ(loss.lines[1].at, 3);
    EXPECT_EQ(loss.series[0].x, (std::vector<double>{1, 2, 3, 4, 5}));
    EXPECT_EQ(figures[1].plot.series[0].x, (std::vector<double>{1, 3, 5}));
    EXPECT_EQ(figures[1].plot.series[0].y, (std::vector<double>{-3, -9, -20}));
}

TEST(TrainingPlots, DrawOneThinCurvePerSeedAndTheirMean) {
    const auto report = sample({seed_report(1, -20), seed_report(2, -22), seed_report(3, -27)});
    const Plot error = layer_figures(report).front().plot;
    ASSERT_EQ(error.series.size(), 8u);  // training and test: three seeds and a mean
    EXPECT_TRUE(error.series[4].faint);
    EXPECT_EQ(error.series[4].label, "");
    EXPECT_FALSE(error.series[7].faint);
    EXPECT_EQ(error.series[7].label, "test, mean");
    EXPECT_EQ(error.series[7].y, (std::vector<double>{-4, -10, -23}));
    EXPECT_NE(error.series[3].color, error.series[7].color);
}

TEST(TrainingPlots, ShowTheNumbersALayerHas) {
    SeedReport seed = seed_report(1, -20);
    EXPECT_EQ(layer_figures(sample({seed})).size(), 2u);
    seed.beta = {0, 0.1F, 0.2F};
    seed.omega = {0, 0.3F, 0.4F};
    const std::vector<Figure> figures = layer_figures(sample({seed}));
    ASSERT_EQ(figures.size(), 4u);
    EXPECT_EQ(figures[2].heading, "Momentum");
    EXPECT_EQ(figures[3].heading, "Onsager term");
    seed.theta.clear();
    EXPECT_EQ(layer_figures(sample({seed})).size(), 3u);
}

TEST(TrainingReport, DrawsACurvePerPieceOfALearnedShrink) {
    SeedReport seed = seed_report(1, -20);
    TrainingReport report = sample({seed});
    report.spec.activation = Activation::piecewise;
    report.spec.pieces = 2;
    report.seeds.front().theta = {1, 2, 3, 4, 5, 6};
    report.seeds.front().gain = {0.5F, 0.5F, 1, 0, 1, 0.25F};
    const std::vector<Figure> figures = layer_figures(report);
    ASSERT_EQ(figures.size(), 3u);
    EXPECT_EQ(figures[1].heading, "Thresholds");
    const std::vector<Series>& thresholds = figures[1].plot.series;
    ASSERT_EQ(thresholds.size(), 2u);
    EXPECT_EQ(thresholds[0].label, "piece 1");
    EXPECT_EQ(thresholds[0].y, (std::vector<double>{1, 3, 5}));
    EXPECT_EQ(thresholds[1].y, (std::vector<double>{2, 4, 6}));

    EXPECT_EQ(figures[2].heading, "Learned shrink");
    const std::vector<Series>& shrinks = figures[2].plot.series;
    ASSERT_EQ(shrinks.size(), 3u);
    EXPECT_EQ(shrinks[2].label, "layer 3");
    for (std::size_t i = 0; i < shrinks[0].x.size(); ++i) {
        const double size = shrinks[0].x[i];
        EXPECT_NEAR(shrinks[0].y[i], 0.5 * std::max(0.0, size - 1) + 0.5 * std::max(0.0, size - 2),
                    1e-12);
        EXPECT_NEAR(shrinks[2].y[i], std::max(0.0, size - 5) + 0.25 * std::max(0.0, size - 6),
                    1e-12);
    }
}

TEST(TrainingPlots, ShowTheBeginningOfLongSignals) {
    TrainingReport report = sample({});
    report.signals = {{"long", std::vector<float>(5000, 1.0F), std::vector<float>(5000, 1.0F)}};
    const std::vector<Figure> figures = signal_figures(report);
    ASSERT_EQ(figures.size(), 1u);
    EXPECT_EQ(figures[0].plot.series[0].x.size(), 300u);
    EXPECT_EQ(figures[0].caption, "The first 300 of 5,000 entries.");
}

TEST(TrainingPlots, DrawSamplesAsCurvesWithWhatWasMeasured) {
    TrainingReport report = sample({});
    RecoveredSignal signal{"segment", std::vector<float>(2000, 1.0F),
                           std::vector<float>(2000, 2.0F)};
    signal.curve = true;
    signal.contaminated = std::vector<float>(2000, 3.0F);
    report.signals = {signal};
    signal.contaminated.clear();
    report.signals.push_back(signal);
    const std::vector<Figure> figures = signal_figures(report);
    ASSERT_EQ(figures.size(), 2u);
    ASSERT_EQ(figures[0].plot.series.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
        const Series& series = figures[0].plot.series[i];
        EXPECT_EQ(series.label, (std::array{"contaminated", "clean", "recovered"}[i]));
        EXPECT_EQ(series.y, std::vector<double>(1024, std::array{3.0, 1.0, 2.0}[i]));
        EXPECT_EQ(series.style, Series::Style::line);
    }
    EXPECT_EQ(figures[0].caption, "The first 1,024 of 2,000 samples.");
    EXPECT_EQ(figures[1].plot.series.size(), 2u);
}

TEST(TrainingReport, HoldsItsPictureItself) {
    TrainingReport report = sample({seed_report(1, -20)});
    EXPECT_FALSE(contains(training_report(report), "<img"));
    report.picture_png = "Man";  // RFC 4648: TWFu
    report.picture_caption = "patches & <more>";
    EXPECT_TRUE(contains(training_report(report), "data:image/png;base64,TWFu\""));
    EXPECT_TRUE(contains(training_report(report), "patches &amp; &lt;more&gt;"));
    report.picture_png = "Ma";
    EXPECT_TRUE(contains(training_report(report), "base64,TWE=\""));
    report.picture_png = "\xff";
    EXPECT_TRUE(contains(training_report(report), "base64,/w==\""));
}

TEST(SeedReport, TakesWhatATrainingGave) {
    TrainResult result;
    result.test.nmse_db = -12;
    result.history = {{0, 1, 1e-3, 0.5, -3}};
    result.model.theta = {0.5F};
    result.model.beta = {0.25F};
    const SeedReport s = SeedReport::of(3, result);
    EXPECT_EQ(s.seed, 3u);
    EXPECT_EQ(s.test.nmse_db, -12);
    EXPECT_EQ(s.history.size(), 1u);
    EXPECT_EQ(s.theta, std::vector<float>{0.5F});
    EXPECT_EQ(s.beta, std::vector<float>{0.25F});
    EXPECT_TRUE(s.omega.empty());
}

}  // namespace
}  // namespace pibinn
