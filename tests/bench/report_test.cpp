#include "bench/report.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/machine.hpp"
#include "bench/scaling_report.hpp"
#include "pibinn/error.hpp"

namespace pibinn::bench {
namespace {

BenchResult measured(const std::string& name) {
    BenchResult r;
    r.name = name;
    r.update = "plain";
    r.m = 50;
    r.n = 100;
    r.layers = 20;
    r.batch = 1;
    r.threads = 1;
    r.density = 0.1;
    r.kernel = "AVX3";
    r.ours_us = 2;
    r.peer = PeerTime{"openblas", 16, {8, 7, 9}, 1e-6, std::nullopt, std::nullopt};
    if (name == "latency") {
        r.ours_tail = Tail{3, 4};
        r.peer->tail = Tail{17, 18};
    }
    return r;
}

TEST(BenchJson, HasTheKeysOfItsContract) {
    const auto json = results_json({measured("latency")});
    EXPECT_EQ(json["machine"], machine_text());
    EXPECT_EQ(json["blas"], blas_text());
    ASSERT_EQ(json["results"].size(), 1U);
    const auto& entry = json["results"][0];
    for (const char* key :
         {"name", "model", "structure", "update", "weights", "m", "n", "layers", "batch", "threads",
          "density", "kernel", "ours_us", "peer", "peer_us", "ratio", "ratio_range", "error"})
        EXPECT_TRUE(entry.contains(key)) << key;
    EXPECT_EQ(entry["ours_us"], 2);
    EXPECT_EQ(entry["peer_us"], 16);
    EXPECT_EQ(entry["ratio"], 8);
    EXPECT_EQ(entry["ratio_range"], (nlohmann::json{7.0, 9.0}));
    EXPECT_EQ(entry["ours_p99_us"], 3);
    EXPECT_EQ(entry["peer_max_us"], 18);
    EXPECT_FALSE(entry.contains("ours_nmse_db"));
}

TEST(BenchJson, AResultWithoutAPeerHasNullInItsPlace) {
    BenchResult alone = measured("throughput");
    alone.peer.reset();
    const auto entry = results_json({alone})["results"][0];
    for (const char* key : {"peer", "peer_us", "ratio", "ratio_range", "error"})
        EXPECT_TRUE(entry.at(key).is_null()) << key;
    EXPECT_FALSE(entry.contains("ours_p99_us"));
}

TEST(BenchText, EveryBenchHasATableWithItsUnit) {
    const std::string text =
        results_text({measured("latency"), measured("throughput"), measured("train")});
    EXPECT_NE(text.find("latency: latency, us"), std::string::npos) << text;
    EXPECT_NE(text.find("throughput: batch time, us per signal"), std::string::npos);
    EXPECT_NE(text.find("train: training, ms per epoch"), std::string::npos);
    EXPECT_NE(text.find("7.00 .. 9.00"), std::string::npos);
    // 16 us are 0.016 ms.
    EXPECT_NE(text.find("0.016"), std::string::npos);
}

TEST(BenchText, NamesWhatTellsNetworksApart) {
    BenchResult mask = measured("latency");
    mask.structure = "mask";
    mask.model = "trained";
    mask.weights = "float";
    mask.peer.reset();
    const std::string text = results_text({mask});
    EXPECT_NE(text.find("50x100x20, mask, float, trained"), std::string::npos) << text;
    EXPECT_NE(text.find("none"), std::string::npos);
}

TEST(BenchText, RefusesAnUnknownBench) { EXPECT_THROW(results_text({measured("speed")}), Error); }

TEST(TimeText, ShowsThreeDigits) {
    EXPECT_EQ(time_text(0.003271), "0.00327");
    EXPECT_EQ(time_text(1.524), "1.52");
    EXPECT_EQ(time_text(37.24), "37.2");
    EXPECT_EQ(time_text(1285.3), "1285");
}

TEST(BlasCore, IsChosenForAProcessorThatOpenBlasDoesNotKnow) {
    EXPECT_EQ(better_blas_core("Prescott", {true, true}), "SkylakeX");
    EXPECT_EQ(better_blas_core("Prescott", {true, false}), "Haswell");
    // An old processor is what it is, and a known one is left alone.
    EXPECT_EQ(better_blas_core("Prescott", {false, false}), "");
    EXPECT_EQ(better_blas_core("SkylakeX", {true, true}), "");
    EXPECT_EQ(better_blas_core("Zen", {true, false}), "");
}

std::vector<ScalingResult> curves() {
    return {{"layers", 50, 100, 5, 256, 1, 5, 10},
            {"layers", 50, 100, 10, 256, 1, 10, 30},
            {"batch", 50, 100, 20, 1, 1, 1, 2},
            {"batch", 50, 100, 20, 4, 1, 4, 4}};
}

TEST(ScalingReport, CurvesStartAtOneInMultiplesOfTheirOwnFirstPoint) {
    const Plot plot = scaling_plot(curves());
    ASSERT_EQ(plot.series.size(), 3U);  // the line of linear growth first
    EXPECT_EQ(plot.series[1].x, (std::vector<double>{1, 2}));
    EXPECT_EQ(plot.series[1].y, (std::vector<double>{1, 3}));
    EXPECT_EQ(plot.series[2].x, (std::vector<double>{1, 4}));
    EXPECT_EQ(plot.series[2].y, (std::vector<double>{1, 2}));
    EXPECT_EQ(plot.series[0].y.back(), 4);
}

TEST(ScalingReport, TellsEveryPoint) {
    const auto json = scaling_json(curves());
    ASSERT_EQ(json["results"].size(), 4U);
    EXPECT_EQ(json["results"][3]["axis"], "batch");
    EXPECT_EQ(json["results"][3]["ours_us"], 4);
    // Three times the time for twice the layers: 1.5 times per layer.
    EXPECT_NE(scaling_text(curves()).find("1.50"), std::string::npos);
}

}  // namespace
}  // namespace pibinn::bench
